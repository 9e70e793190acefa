# ranks.sh - what tests of runs over ranks share; sourced.  Skips the test where there is no Open MPI.
#
# mpirun as root wants to be told; more ranks than processors share them.
folder=$(dirname "$(readlink -f "${TACIT:?set TACIT to the program}")")
if ! command -v mpirun >/dev/null; then
  echo "skipped: no Open MPI (Debian: openmpi-bin)"
  exit 77
fi
if [ ! -e "$folder/libtacit_mpi.so" ]; then
  echo "skipped: built without Open MPI (Debian: libopenmpi-dev)"
  exit 77
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 # Open MPI keeps what it has

# ranks N ARGS... : the program on N ranks; output in $work/.out and .err, exit code in $code.
ranks() {
  local n=$1
  shift
  timeout 300 mpirun -n "$n" "$TACIT" "$@" </dev/null >"$work/.out" 2>"$work/.err"
  code=$?
}
