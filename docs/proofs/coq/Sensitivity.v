(* Sensitivity.v - how far one record moves a sum of clipped lattice terms.

   A term is a vector of integers: multiples of the lattice.  Sums are then exact in any order, and so is every bound
   here.  Nothing but the integers of the standard library is used, and no axiom. *)
Require Import ZArith List Permutation Lia.
Import ListNotations.
Open Scope Z_scope.

Section Sums.
Variable record : Type.
Variable d : nat. (* coordinates 0..d-1 *)

Definition vector := nat -> Z.
Definition add (u v : vector) : vector := fun j => u j + v j.
Definition sub (u v : vector) : vector := fun j => u j - v j.
Definition zero : vector := fun _ => 0.

(* sum over coordinates below k *)
Fixpoint over (k : nat) (f : nat -> Z) : Z :=
  match k with O => 0 | S k => over k f + f k end.
Definition dot (u v : vector) : Z := over d (fun j => u j * v j).
Definition norm2 (u : vector) : Z := dot u u.
Definition norm1 (u : vector) : Z := over d (fun j => Z.abs (u j)).

Variable term : record -> vector.
Fixpoint total (table : list record) : vector :=
  match table with [] => zero | r :: rest => add (term r) (total rest) end.

(* A table is a bag of records: neighbours may be listed in any order. *)
Definition add_remove (a b : list record) : Prop := exists r, Permutation a (r :: b).
Definition replace_one (a b : list record) : Prop :=
  exists r r' rest, Permutation a (r :: rest) /\ Permutation b (r' :: rest).

(* ---- sums over coordinates ---- *)

Lemma over_ext k f g : (forall j, f j = g j) -> over k f = over k g.
Proof. intro H; induction k; simpl; [reflexivity | rewrite IHk, H; reflexivity]. Qed.
Lemma over_add k f g : over k (fun j => f j + g j) = over k f + over k g.
Proof. induction k; simpl; lia. Qed.
Lemma over_scale k c f : over k (fun j => c * f j) = c * over k f.
Proof. induction k; simpl; [| rewrite IHk]; ring. Qed.
Lemma over_le k f g : (forall j, f j <= g j) -> over k f <= over k g.
Proof. intro H; induction k; simpl; [lia | specialize (H k); lia]. Qed.
Lemma over_zero k f : (forall j, f j = 0) -> over k f = 0.
Proof. intro H; induction k; simpl; [reflexivity | rewrite IHk, H; reflexivity]. Qed.
Lemma over_nonneg k f : (forall j, 0 <= f j) -> 0 <= over k f.
Proof. intro H; induction k; simpl; [lia | specialize (H k); lia]. Qed.

(* ---- the order of records changes nothing ---- *)

Theorem total_in_any_order a b : Permutation a b -> forall j, total a j = total b j.
Proof.
  induction 1; intro j; simpl; unfold add in *; auto.
  - rewrite IHPermutation; reflexivity.
  - lia.
  - rewrite IHPermutation1; apply IHPermutation2.
Qed.

(* ---- lengths ---- *)

Lemma norm2_ext u v : (forall j, u j = v j) -> norm2 u = norm2 v.
Proof. intro H; apply over_ext; intro j; rewrite H; reflexivity. Qed.
Lemma norm1_ext u v : (forall j, u j = v j) -> norm1 u = norm1 v.
Proof. intro H; apply over_ext; intro j; rewrite H; reflexivity. Qed.
Lemma norm2_nonneg u : 0 <= norm2 u.
Proof. apply over_nonneg; intro; nia. Qed.
Lemma norm1_nonneg u : 0 <= norm1 u.
Proof. apply over_nonneg; intro; lia. Qed.
Lemma norm2_sub u v : norm2 (sub u v) = norm2 u - 2 * dot u v + norm2 v.
Proof.
  unfold norm2, dot, sub; clear; induction d as [| k IH]; cbn [over]; [reflexivity |].
  cbv beta in *; rewrite IH; ring.
Qed.
Lemma norm2_add u v : norm2 (add u v) = norm2 u + 2 * dot u v + norm2 v.
Proof.
  unfold norm2, dot, add; clear; induction d as [| k IH]; cbn [over]; [reflexivity |].
  cbv beta in *; rewrite IH; ring.
Qed.
Lemma dot_scale_left a u v : dot (fun j => a * u j) v = a * dot u v.
Proof. unfold dot; rewrite <- over_scale; apply over_ext; intro; ring. Qed.

(* |u.v| <= |u| |v|, without roots *)
Lemma twice_dot u v : 2 * Z.abs (dot u v) <= norm2 u + norm2 v.
Proof.
  pose proof (norm2_nonneg (sub u v)) as A; pose proof (norm2_nonneg (add u v)) as B.
  rewrite norm2_sub in A; rewrite norm2_add in B; lia.
Qed.

(* ---- one record ---- *)

Section Clipped.
Variable c2 : Z. (* the clip's square, in lattices *)
Hypothesis clipped : forall r, norm2 (term r) <= c2.

Theorem one_record_more_or_less a b :
  add_remove a b -> norm2 (sub (total a) (total b)) <= c2.
Proof.
  intros [r H]; rewrite (norm2_ext _ (term r)); [apply clipped |].
  intro j; unfold sub; rewrite (total_in_any_order _ _ H); simpl; unfold add; lia.
Qed.

Lemma replaced a b :
  replace_one a b -> exists r r', forall j, sub (total a) (total b) j = sub (term r) (term r') j.
Proof.
  intros (r & r' & rest & A & B); exists r, r'; intro j; unfold sub.
  rewrite (total_in_any_order _ _ A), (total_in_any_order _ _ B); simpl; unfold add; lia.
Qed.

(* Twice the length: four times its square. *)
Theorem one_record_replaced a b :
  replace_one a b -> norm2 (sub (total a) (total b)) <= 4 * c2.
Proof.
  intro H; destruct (replaced a b H) as (r & r' & E); rewrite (norm2_ext _ _ E), norm2_sub.
  pose proof (clipped r); pose proof (clipped r'); pose proof (twice_dot (term r) (term r')); lia.
Qed.

(* Counts, squares and products of a row with itself have no negative inner products. *)
Theorem one_record_replaced_without_negative_products a b :
  (forall r r', 0 <= dot (term r) (term r')) ->
  replace_one a b -> norm2 (sub (total a) (total b)) <= 2 * c2.
Proof.
  intros P H; destruct (replaced a b H) as (r & r' & E); rewrite (norm2_ext _ _ E), norm2_sub.
  pose proof (clipped r); pose proof (clipped r'); specialize (P r r'); lia.
Qed.
End Clipped.

Section ClippedInL1.
Variable c : Z.
Hypothesis clipped : forall r, norm1 (term r) <= c.

Theorem one_record_more_or_less_l1 a b :
  add_remove a b -> norm1 (sub (total a) (total b)) <= c.
Proof.
  intros [r H]; rewrite (norm1_ext _ (term r)); [apply clipped |].
  intro j; unfold sub; rewrite (total_in_any_order _ _ H); simpl; unfold add; lia.
Qed.

Theorem one_record_replaced_l1 a b :
  replace_one a b -> norm1 (sub (total a) (total b)) <= 2 * c.
Proof.
  intro H; destruct (replaced a b H) as (r & r' & E); rewrite (norm1_ext _ _ E).
  assert (norm1 (sub (term r) (term r')) <= norm1 (term r) + norm1 (term r')) as L.
  { unfold norm1; rewrite <- over_add; apply over_le; intro; unfold sub; lia. }
  pose proof (clipped r); pose proof (clipped r'); lia.
Qed.
End ClippedInL1.

(* ---- persons: weights that sum to at most 1 ---- *)

(* Weights are doubles: fractions of one denominator.  A record of weight (weight r)/one has a term of at most that part
   of the clip, and whatever number of records a person has, their weights sum to at most 1. *)
Section Weighed.
Variable one : Z.
Variable weight : record -> Z.
Hypothesis denominator : 0 < one.
Hypothesis weights_are_not_negative : forall r, 0 <= weight r.
Fixpoint weights (own : list record) : Z := match own with [] => 0 | r :: rest => weight r + weights rest end.

Lemma weights_nonneg own : 0 <= weights own.
Proof. induction own as [| r own IH]; simpl; [lia | specialize (weights_are_not_negative r); lia]. Qed.

Lemma moved_by_own own rest a : Permutation a (own ++ rest) -> forall j, sub (total a) (total rest) j = total own j.
Proof.
  intros P j; unfold sub; rewrite (total_in_any_order _ _ P).
  clear P a; induction own as [| r own IH]; simpl; unfold add, zero in *; lia.
Qed.

Lemma dot_of_nothing u v : norm2 u = 0 -> dot u v = 0.
Proof.
  intro Z0; set (n := norm2 v + 1).
  pose proof (twice_dot (fun j => n * u j) v) as T; rewrite dot_scale_left in T.
  assert (norm2 (fun j => n * u j) = n * n * norm2 u) as N.
  { unfold norm2 at 1; rewrite dot_scale_left; unfold norm2, dot.
    rewrite (over_ext d (fun j => u j * (n * u j)) (fun j => n * (u j * u j))) by (intro; ring).
    rewrite over_scale; ring. }
  rewrite N, Z0 in T; pose proof (norm2_nonneg v); rewrite Z.abs_mul, (Z.abs_eq n) in T by (unfold n; lia).
  assert (norm2 v = n - 1) as V by (unfold n; lia); rewrite V in T; nia.
Qed.

(* The triangle's inequality without roots, for lengths that are x and y parts of the same. *)
Lemma parts_add c2 x y u v :
  0 <= x -> 0 <= y -> 0 <= c2 -> one * one * norm2 u <= x * x * c2 -> one * one * norm2 v <= y * y * c2 ->
  one * one * norm2 (add u v) <= (x + y) * (x + y) * c2.
Proof.
  intros X Y C U V; rewrite norm2_add.
  enough (one * one * dot u v <= x * y * c2) by lia.
  assert (forall w, one * one * norm2 w <= 0 -> norm2 w = 0) as nothing.
  { intros w W; pose proof (norm2_nonneg w); assert (0 < one * one) by nia; nia. }
  assert (norm2 (fun j => y * u j) = y * y * norm2 u) as A.
  { unfold norm2, dot; rewrite <- over_scale; apply over_ext; intro; ring. }
  assert (norm2 (fun j => x * v j) = x * x * norm2 v) as B.
  { unfold norm2, dot; rewrite <- over_scale; apply over_ext; intro; ring. }
  assert (dot (fun j => y * u j) (fun j => x * v j) = x * y * dot u v) as D.
  { unfold dot; rewrite <- over_scale; apply over_ext; intro; ring. }
  destruct (Z.eq_dec x 0) as [X0 | X1]; [| destruct (Z.eq_dec y 0) as [Y0 | Y1]].
  - subst x; rewrite (dot_of_nothing u v) by (apply nothing; lia); lia.
  - subst y; assert (dot v u = 0) as E by (apply dot_of_nothing, nothing; lia).
    replace (dot u v) with (dot v u) by (unfold dot; apply over_ext; intro; ring); rewrite E; lia.
  - pose proof (twice_dot (fun j => y * u j) (fun j => x * v j)) as T; rewrite A, B, D in T.
    assert (x * y * dot u v <= Z.abs (x * y * dot u v)) by lia.
    set (s := one * one) in *; set (p := dot u v) in *; set (m := norm2 u) in *; set (n := norm2 v) in *.
    assert (0 < s) by (unfold s; nia); assert (0 < x * y) by nia; clearbody s p m n.
    assert (2 * (x * y * p) <= y * y * m + x * x * n) as L by lia.
    assert (s * (2 * (x * y * p)) <= s * (y * y * m + x * x * n)) as M by (apply Z.mul_le_mono_nonneg_l; lia).
    assert (y * y * (s * m) <= y * y * (x * x * c2)) by (apply Z.mul_le_mono_nonneg_l; nia).
    assert (x * x * (s * n) <= x * x * (y * y * c2)) by (apply Z.mul_le_mono_nonneg_l; nia).
    apply (Z.mul_le_mono_pos_l _ _ (x * y)); [assumption |].
    replace (x * y * (s * p)) with (s * (x * y * p)) by ring.
    replace (x * y * (x * y * c2)) with (x * x * (y * y * c2)) by ring.
    replace (s * (y * y * m + x * x * n)) with (y * y * (s * m) + x * x * (s * n)) in M by ring.
    replace (y * y * (x * x * c2)) with (x * x * (y * y * c2)) in * by ring.
    lia.
Qed.

Section InL2.
Variable c2 : Z. (* the clip's square *)
Hypothesis weighed : forall r, one * one * norm2 (term r) <= weight r * weight r * c2.

Lemma own_total_in_the_clip own : 0 <= c2 -> weights own <= one -> norm2 (total own) <= c2.
Proof.
  intros C S.
  enough (one * one * norm2 (total own) <= weights own * weights own * c2) as E.
  { pose proof (weights_nonneg own).
    assert (weights own * weights own * c2 <= one * one * c2) by (apply Z.mul_le_mono_nonneg_r; nia).
    apply (Z.mul_le_mono_pos_l _ _ (one * one)); nia. }
  clear S; induction own as [| r own IH]; cbn [total weights].
  - unfold norm2, dot; rewrite over_zero by (intro; unfold zero; ring); lia.
  - apply parts_add; auto using weights_nonneg.
Qed.

Theorem one_person_more_or_less own rest a :
  0 <= c2 -> weights own <= one -> Permutation a (own ++ rest) -> norm2 (sub (total a) (total rest)) <= c2.
Proof.
  intros C S P; rewrite (norm2_ext _ (total own)) by (apply moved_by_own; exact P); apply own_total_in_the_clip; assumption.
Qed.

(* Twice the length: four times its square. *)
Theorem one_person_replaced own other rest a b :
  0 <= c2 -> weights own <= one -> weights other <= one -> Permutation a (own ++ rest) -> Permutation b (other ++ rest) ->
  norm2 (sub (total a) (total b)) <= 4 * c2.
Proof.
  intros C S T P Q; rewrite (norm2_ext _ (sub (total own) (total other))).
  - rewrite norm2_sub; pose proof (own_total_in_the_clip own C S); pose proof (own_total_in_the_clip other C T).
    pose proof (twice_dot (total own) (total other)); lia.
  - intro j; pose proof (moved_by_own _ _ _ P j); pose proof (moved_by_own _ _ _ Q j); unfold sub in *; lia.
Qed.
End InL2.

Theorem one_person_more_or_less_l1 c own rest a :
  (forall r, one * norm1 (term r) <= weight r * c) -> 0 <= c -> weights own <= one -> Permutation a (own ++ rest) ->
  norm1 (sub (total a) (total rest)) <= c.
Proof.
  intros H C S P; rewrite (norm1_ext _ (total own)) by (apply moved_by_own; exact P).
  enough (one * norm1 (total own) <= weights own * c) as E.
  { assert (weights own * c <= one * c) by (apply Z.mul_le_mono_nonneg_r; assumption).
    apply (Z.mul_le_mono_pos_l _ _ one); lia. }
  clear S P; induction own as [| r own IH]; cbn [total weights].
  - unfold norm1; rewrite over_zero by (intro; reflexivity); lia.
  - assert (norm1 (add (term r) (total own)) <= norm1 (term r) + norm1 (total own)) as L.
    { unfold norm1; rewrite <- over_add; apply over_le; intro; unfold add; lia. }
    specialize (H r); nia.
Qed.
End Weighed.

(* ---- sums are exact in doubles: no sum of n terms leaves the range of n clips ---- *)

Theorem total_in_range c table j :
  (forall r, Z.abs (term r j) <= c) -> Z.abs (total table j) <= Z.of_nat (length table) * c.
Proof.
  intro H; induction table as [| r rest IH]; simpl total; simpl length; unfold add, zero.
  - simpl; lia.
  - specialize (H r); rewrite Nat2Z.inj_succ; nia.
Qed.
End Sums.

(* ---- truncation to the lattice ---- *)

(* A number x in units of some fine grid, and a lattice of g such units: what the kernels add. *)
Definition truncated (g x : Z) : Z := Z.quot x g.

Lemma truncation_shortens g x : 0 < g -> g * Z.abs (truncated g x) <= Z.abs x.
Proof.
  intro G; unfold truncated; rewrite <- (Z.quot_abs x g) by lia.
  rewrite (Z.abs_eq g), Z.quot_div_nonneg by lia; apply Z.mul_div_le; assumption.
Qed.

Theorem truncation_keeps_the_clip d g (u : vector) :
  0 < g -> g * g * norm2 d (fun j => truncated g (u j)) <= norm2 d u.
Proof.
  intro G; unfold norm2, dot; rewrite <- over_scale; apply over_le; intro j.
  pose proof (truncation_shortens g (u j) G).
  assert ((g * Z.abs (truncated g (u j))) * (g * Z.abs (truncated g (u j))) <= Z.abs (u j) * Z.abs (u j)) as Q by nia.
  rewrite <- (Z.abs_square (u j)); rewrite <- (Z.abs_square (truncated g (u j))); nia.
Qed.

Print Assumptions one_record_more_or_less.
Print Assumptions one_record_replaced.
Print Assumptions one_record_replaced_without_negative_products.
Print Assumptions one_record_more_or_less_l1.
Print Assumptions one_record_replaced_l1.
Print Assumptions one_person_more_or_less.
Print Assumptions one_person_replaced.
Print Assumptions one_person_more_or_less_l1.
Print Assumptions total_in_any_order.
Print Assumptions total_in_range.
Print Assumptions truncation_keeps_the_clip.
