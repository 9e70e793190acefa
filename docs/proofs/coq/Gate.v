(* Gate.v - a gate that charges before it draws, and what it cannot do; definitions that the C code is tested against.

   No axiom is used. *)
Require Import ZArith List Arith Lia.
Import ListNotations.

(* ---- the order of the gate ------------------------------------------------------------------------ *)

Inductive happening := charge (r : nat) | draw (r : nat).

(* What is left of each planned release. *)
Definition promised := nat -> nat.
Definition less (left : promised) (r : nat) : promised := fun k => if k =? r then pred (left k) else left k.

(* A call names a release: refused without a trace, or charged and then drawn. *)
Fixpoint gate (left : promised) (calls : list nat) : list happening :=
  match calls with
  | [] => []
  | r :: rest => match left r with
                 | O => gate left rest
                 | S _ => charge r :: draw r :: gate (less left r) rest
                 end
  end.

Definition is_charge r h := match h with charge k => k =? r | draw _ => false end.
Definition is_draw r h := match h with draw k => k =? r | charge _ => false end.
Definition count (f : happening -> bool) (trace : list happening) : nat := length (filter f trace).

Lemma less_at left r k : less left r k = if k =? r then pred (left k) else left k.
Proof. reflexivity. Qed.

Lemma no_more_is_charged_than_promised calls : forall left r, count (is_charge r) (gate left calls) <= left r.
Proof.
  induction calls as [| k rest IH]; intros left r; simpl; [unfold count; simpl; lia |].
  destruct (left k) as [| n] eqn:E; [apply IH |].
  specialize (IH (less left k) r); unfold count in *; rewrite less_at in IH; simpl.
  rewrite (Nat.eqb_sym r k) in IH; destruct (Nat.eqb_spec k r) as [M | M]; simpl; [| exact IH].
  rewrite <- M in *; rewrite E in *; simpl in IH; lia.
Qed.

(* Cut the trace anywhere, as a crash does: what was drawn until then had been charged. *)
Theorem what_is_drawn_was_charged_before calls : forall left r cut,
  count (is_draw r) (firstn cut (gate left calls)) <= count (is_charge r) (firstn cut (gate left calls)).
Proof.
  induction calls as [| k rest IH]; intros left r cut; simpl; [rewrite firstn_nil; reflexivity |].
  destruct (left k) as [| n]; [apply IH |].
  destruct cut as [| [| cut]]; unfold count in *; simpl; [lia | lia |].
  specialize (IH (less left k) r cut); destruct (k =? r); simpl; lia.
Qed.

Theorem nothing_is_drawn_beyond_the_promise calls left r cut :
  count (is_draw r) (firstn cut (gate left calls)) <= left r.
Proof.
  pose proof (what_is_drawn_was_charged_before calls left r cut).
  pose proof (no_more_is_charged_than_promised calls left r).
  assert (count (is_charge r) (firstn cut (gate left calls)) <= count (is_charge r) (gate left calls)).
  { unfold count; rewrite <- (firstn_skipn cut (gate left calls)) at 2; rewrite filter_app, app_length; lia. }
  lia.
Qed.

(* ---- tables for the C code ------------------------------------------------------------------------ *)

(* Which of the calls are answered. *)
Fixpoint answers (left : promised) (calls : list nat) : list Z :=
  match calls with
  | [] => []
  | r :: rest => match left r with
                 | O => 0%Z :: answers left rest
                 | S _ => 1%Z :: answers (less left r) rest
                 end
  end.
Definition planned : promised := fun r => match r with 0 => 2 | 1 => 1 | _ => 0 end.
Fixpoint sequences (n : nat) : list (list nat) :=
  match n with O => [[]] | S n => flat_map (fun s => [0 :: s; 1 :: s; 2 :: s]) (sequences n) end.
Definition gate_table : list (list Z * list Z) := map (fun s => (map Z.of_nat s, answers planned s)) (sequences 4).

(* x in units of a fine grid, cut to multiples of g such units: Sensitivity.truncated. *)
Definition truncation_table : list (Z * Z * Z) :=
  flat_map (fun g => map (fun x => (g, x, Z.quot x g))
    [0; 1; 2; 7; 8; 9; 15; 16; 1023; 1024; 1025; 123456789; -1; -2; -7; -8; -9; -15; -16; -1023; -1024; -1025; -123456789]%Z)
    [1; 2; 8; 1024; 65536]%Z.

(* The nearest integer to a/b, halves up: Privacy.nearest_of_a_quotient. *)
Definition nearest_quotient (a b : Z) : Z := ((2 * a + b) / (2 * b))%Z.

(* m (k 2^64 + top) / 2^h as the sampler of the Gaussian rounds it.  Where the later words of its uniform number could
   decide, the row is left out. *)
Definition rounding_row (m h k top : Z) : list (Z * Z * Z * Z * Z) :=
  let low := (m * (k * 2 ^ 64 + top))%Z in
  if (nearest_quotient low (2 ^ h) =? nearest_quotient (low + m - 1) (2 ^ h))%Z
  then [(m, h, k, top, nearest_quotient low (2 ^ h))] else [].
Definition rounding_table : list (Z * Z * Z * Z * Z) :=
  flat_map (fun m => flat_map (fun h => flat_map (fun k => flat_map (fun top => rounding_row m h k top)
    [0; 1; 9223372036854775807; 9223372036854775808; 12297829382473034411; 18446744073709551615]%Z)
    [0; 1; 3; 7]%Z) [64; 70; 84; 96]%Z) [1; 3; 1048577; 4503599627370497]%Z.

Print Assumptions what_is_drawn_was_charged_before.
Print Assumptions nothing_is_drawn_beyond_the_promise.
