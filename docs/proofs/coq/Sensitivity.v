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

(* ---- persons: at most k records of each, taken out together ---- *)

Lemma norm2_total_bound c2 own :
  (forall r, norm2 (term r) <= c2) -> norm2 (total own) <= Z.of_nat (length own) * Z.of_nat (length own) * c2.
Proof.
  intro H; induction own as [| r own IH]; simpl length.
  - simpl; unfold norm2, dot; rewrite over_zero by (intro; unfold zero; ring); lia.
  - simpl total; rewrite norm2_add; specialize (H r) as Hr.
    (* n (2 u.v) <= n^2 |u|^2 + |v|^2 for n >= 1 *)
    set (n := Z.of_nat (length own)) in *; set (u := term r) in *; set (v := total own) in *.
    assert (0 <= n) by (unfold n; lia); rewrite Nat2Z.inj_succ; fold n.
    pose proof (norm2_nonneg u).
    destruct (Z.eq_dec n 0) as [Z0 | NZ].
    + rewrite Z0 in *; assert (norm2 v = 0) by (pose proof (norm2_nonneg v); lia).
      assert (dot u v = 0) as D.
      { unfold v; destruct own; [| unfold n in Z0; simpl in Z0; lia].
        unfold dot; rewrite over_zero; [lia | intro; simpl; unfold zero; ring]. }
      nia.
    + pose proof (norm2_nonneg (sub (fun j => n * u j) v)) as A; rewrite norm2_sub, dot_scale_left in A.
      assert (norm2 (fun j => n * u j) = n * n * norm2 u) as N.
      { unfold norm2 at 1; rewrite dot_scale_left; unfold norm2, dot.
        rewrite (over_ext d (fun j => u j * (n * u j)) (fun j => n * (u j * u j))) by (intro; ring).
        rewrite over_scale; ring. }
      rewrite N in A; set (x := norm2 u) in *; set (y := norm2 v) in *; set (p := dot u v) in *; clearbody x y p; clearbody n.
      clear H N.
      assert (n * (x + 2 * p + y) <= n * (Z.succ n * Z.succ n * c2)).
      { assert (n * (2 * p) <= n * n * x + y) by nia.
        assert (n * n * x <= n * n * c2) by nia.
        assert (n * x <= n * c2) by nia.
        assert (y + n * y <= (1 + n) * (n * n * c2)) by nia.
        nia. }
      nia.
Qed.

Theorem one_person_more_or_less c2 own rest a :
  (forall r, norm2 (term r) <= c2) -> Permutation a (own ++ rest) ->
  norm2 (sub (total a) (total rest)) <= Z.of_nat (length own) * Z.of_nat (length own) * c2.
Proof.
  intros H P; rewrite (norm2_ext _ (total own)); [apply norm2_total_bound; assumption |].
  intro j; unfold sub; rewrite (total_in_any_order _ _ P).
  clear P a; induction own as [| r own IH]; simpl; unfold add, zero in *; lia.
Qed.

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
Print Assumptions total_in_any_order.
Print Assumptions total_in_range.
Print Assumptions truncation_keeps_the_clip.
