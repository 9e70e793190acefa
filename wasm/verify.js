// verify.js - runs the program of verify.c on one model file that lies in memory.  It reaches no network and no disk.
"use strict";

// What WASI asks of a system, of which there is: standard output and error, one file called "model", a clock.
class End extends Error {}

function system(file, args) {
  const BADF = 8, NOENT = 44, NOTSUP = 58, ROOT = 3, MODEL = 4;
  const encode = (text) => new TextEncoder().encode(text + "\0");
  const said = { 1: [], 2: [] };
  const words = args.map(encode);
  let memory, at = 0, code = 0;
  const view = () => new DataView(memory.buffer);
  const put32 = (where, value) => view().setUint32(where, value, true);
  const put64 = (where, value) => view().setBigUint64(where, BigInt(value), true);
  const list = (items, heads, bytes) => {
    for (const [i, item] of items.entries()) {
      put32(heads + 4 * i, bytes);
      new Uint8Array(memory.buffer).set(item, bytes);
      bytes += item.length;
    }
    return 0;
  };
  // each(address, length) of the pieces that a call names; it returns how many bytes it took.
  const pieces = (where, count, total, each) => {
    let sum = 0;
    for (let i = 0; i < count; i++) sum += each(view().getUint32(where + 8 * i, true), view().getUint32(where + 8 * i + 4, true));
    put32(total, sum);
    return 0;
  };
  const stat = (where, type, size) => {
    new Uint8Array(memory.buffer, where, 64).fill(0);
    view().setUint8(where + 16, type);
    put64(where + 32, size);
    return 0;
  };
  const wasi = {
    args_sizes_get: (count, bytes) => (put32(count, words.length), put32(bytes, words.reduce((n, w) => n + w.length, 0)), 0),
    args_get: (heads, bytes) => list(words, heads, bytes),
    environ_sizes_get: (count, bytes) => (put32(count, 0), put32(bytes, 0), 0),
    environ_get: () => 0,
    clock_time_get: (id, precision, where) => (put64(where, Math.round(performance.now() * 1e6)), 0),
    fd_prestat_get: (fd, where) => (fd === ROOT ? (put32(where, 0), put32(where + 4, 1), 0) : BADF),
    fd_prestat_dir_name: (fd, where) => (new Uint8Array(memory.buffer)[where] = 47, 0),
    fd_fdstat_get: (fd, where) => {
      if (fd > MODEL) return BADF;
      new Uint8Array(memory.buffer, where, 24).fill(0);
      view().setUint8(where, fd === ROOT ? 3 : fd === MODEL ? 4 : 2);
      put64(where + 8, 0x1fffffff);
      put64(where + 16, 0x1fffffff);
      return 0;
    },
    fd_fdstat_set_flags: () => 0,
    fd_filestat_get: (fd, where) => (fd === MODEL ? stat(where, 4, file.length) : BADF),
    path_filestat_get: (fd, flags, name, size, where) => stat(where, 4, file.length),
    path_open: (fd, how, name, size, flags, base, inherit, more, where) => (flags & 9 ? NOTSUP : ((at = 0), put32(where, MODEL), 0)),
    fd_read: (fd, where, count, total) =>
      fd !== MODEL ? BADF : pieces(where, count, total, (to, length) => {
        const part = file.subarray(at, at + length);
        new Uint8Array(memory.buffer).set(part, to);
        at += part.length;
        return part.length;
      }),
    fd_write: (fd, where, count, total) =>
      !said[fd] ? BADF : pieces(where, count, total, (from, length) => {
        said[fd].push(new Uint8Array(memory.buffer, from, length).slice());
        return length;
      }),
    fd_seek: (fd, offset, whence, where) => {
      if (fd !== MODEL) return BADF;
      at = Number(offset) + (whence === 0 ? 0 : whence === 1 ? at : file.length);
      put64(where, at);
      return 0;
    },
    fd_close: () => 0,
    proc_exit: (value) => { code = value; throw new End(); },
  };
  // All that the program imports is WASI's; what it lacks (left_out.txt) ends it where it is called.
  const imports = { wasi_snapshot_preview1: new Proxy(wasi, { get: (table, name) => table[name] || (() => NOENT) }) };
  const text = (parts) => parts.map((part) => decoder.decode(part, { stream: true })).join("") + decoder.decode();
  const decoder = new TextDecoder();
  return {
    async run(module) {
      const instance = await WebAssembly.instantiate(module, imports);
      memory = instance.exports.memory;
      try {
        instance.exports._start();
      } catch (end) {
        if (!(end instanceof End)) throw end;
      }
      return { code, out: text(said[1]), error: text(said[2]) };
    },
  };
}

// { code, out, error } of `tacit verify`: as people read it, or with json as programs do.
async function verifyFile(module, bytes, json, name) {
  return system(bytes, ["verify", name || "model", ...(json ? ["--json"] : [])]).run(module);
}

if (typeof module !== "undefined") module.exports = { verifyFile };
