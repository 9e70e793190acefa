(* Privacy.v - functions of a release, rounding on the lattice, and adaptive composition under a budget.

   A law is given by the probability of each event, or, where sums are needed, by a finite list of outcomes: for each
   its probability p under one table and q under its neighbour.  Reals are those of the standard library. *)
Require Import Reals List Bool ZArith Lra Lia.
Import ListNotations.
Open Scope R_scope.

(* ---- a function of a release promises what the release does ------------------------------------ *)

Definition law (A : Type) := (A -> bool) -> R. (* the probability of an event *)

Definition promise {A} (epsilon delta : R) (p q : law A) : Prop :=
  forall event, p event <= exp epsilon * q event + delta.

Definition image {A B} (g : A -> B) (p : law A) : law B := fun event => p (fun a => event (g a)).

Theorem functions_of_a_release_cost_nothing A B (g : A -> B) epsilon delta (p q : law A) :
  promise epsilon delta p q -> promise epsilon delta (image g p) (image g q).
Proof. intros H event; apply H. Qed.

(* ---- noise rounded to the lattice, in units of the lattice -------------------------------------- *)

(* The nearest integer; halves go up. *)
Definition nearest (x : R) : Z := (up (x + / 2) - 1)%Z.

Lemma nearest_shift k x : nearest (IZR k + x) = (k + nearest x)%Z.
Proof.
  unfold nearest.
  enough (up (IZR k + x + / 2) = (k + up (x + / 2))%Z) as E by (rewrite E; ring).
  symmetry; apply tech_up; rewrite plus_IZR; destruct (archimed (x + / 2)); lra.
Qed.

(* The same in whole numbers, as the sampler computes it. *)
Theorem nearest_of_a_quotient a b : (0 < b)%Z -> nearest (IZR a / IZR b) = ((2 * a + b) / (2 * b))%Z.
Proof.
  intro B; unfold nearest; set (q := ((2 * a + b) / (2 * b))%Z).
  assert (2 * b * q <= 2 * a + b /\ 2 * a + b < 2 * b * (q + 1))%Z as [L H].
  { unfold q; pose proof (Z.mul_div_le (2 * a + b) (2 * b)); pose proof (Z.mul_succ_div_gt (2 * a + b) (2 * b)); lia. }
  apply IZR_le in L; apply IZR_lt in H.
  rewrite ?plus_IZR, ?mult_IZR, ?plus_IZR in L; rewrite ?mult_IZR, ?plus_IZR, ?mult_IZR in H.
  assert (0 < IZR b) as P by (apply IZR_lt; exact B).
  enough ((q + 1)%Z = up (IZR a / IZR b + / 2)) as E by (rewrite <- E; ring).
  assert (IZR a = IZR a / IZR b * IZR b) as D by (field; lra).
  set (x := IZR a / IZR b) in *; clearbody x.
  apply tech_up; rewrite plus_IZR.
  - apply (Rmult_lt_reg_l (2 * IZR b)); [lra |]; rewrite D in H; lra.
  - apply (Rmult_le_reg_l (2 * IZR b)); [lra |]; rewrite D in L; lra.
Qed.

(* Laws that agree on equal events; the standard library's functions are not extensional by themselves. *)
Definition extensional {A} (p : law A) : Prop :=
  forall e f, (forall a, e a = f a) -> p e = p f.

(* A lattice value plus rounded noise is the rounded sum: a function of the continuous mechanism. *)
Lemma rounded_noise_is_a_rounded_release (noise : law R) k event :
  extensional noise ->
  image (fun z => (k + nearest z)%Z) noise event = image nearest (image (fun z => IZR k + z) noise) event.
Proof. intro X; apply X; intro z; rewrite nearest_shift; reflexivity. Qed.

(* What is proved of N(k, s^2) against N(k', s^2) holds for sums on the lattice with rounded noise. *)
Theorem rounding_on_the_lattice_keeps_the_promise (noise : law R) k k' epsilon delta :
  extensional noise ->
  promise epsilon delta (image (fun z => IZR k + z) noise) (image (fun z => IZR k' + z) noise) ->
  promise epsilon delta (image (fun z => (k + nearest z)%Z) noise) (image (fun z => (k' + nearest z)%Z) noise).
Proof.
  intros X H event.
  rewrite (rounded_noise_is_a_rounded_release noise k event X), (rounded_noise_is_a_rounded_release noise k' event X).
  apply (functions_of_a_release_cost_nothing _ _ nearest _ _ _ _ H).
Qed.

(* ---- adaptive runs -------------------------------------------------------------------------------- *)

(* A run releases something, looks at it, and decides what to release next: a tree.  Each branch has the probability of
   its outcome under both tables.  Beside it stands the rho that the step is charged. *)
Inductive run : Type :=
| ends : run
| step : R -> list (R * R * run) -> run.

Definition power (alpha p q : R) : R := Rpower p alpha * Rpower q (1 - alpha).

Fixpoint moment_of (alpha : R) (outcomes : list (R * R)) : R :=
  match outcomes with [] => 0 | (p, q) :: rest => power alpha p q + moment_of alpha rest end.

(* All paths to the end, with their probabilities. *)
Fixpoint paths (r : run) : list (R * R) :=
  match r with
  | ends => [(1, 1)]
  | step _ branches =>
      flat_map (fun b => map (fun w => (fst (fst b) * fst w, snd (fst b) * snd w)) (paths (snd b))) branches
  end.

(* rho-zCDP at one order: the Renyi divergence is at most alpha rho. *)
Definition step_within (alpha rho : R) (branches : list (R * R * run)) : Prop :=
  (forall b, In b branches -> 0 < fst (fst b) /\ 0 < snd (fst b)) /\
  moment_of alpha (map fst branches) <= exp ((alpha - 1) * alpha * rho).

(* The gate: along every path the charges are non-negative and sum to no more than the budget. *)
Inductive within (alpha : R) : R -> run -> Prop :=
| within_ends budget : 0 <= budget -> within alpha budget ends
| within_step budget rho branches :
    0 <= rho <= budget -> step_within alpha rho branches ->
    (forall b, In b branches -> within alpha (budget - rho) (snd b)) ->
    within alpha budget (step rho branches).

Lemma power_pos alpha p q : 0 < power alpha p q.
Proof. unfold power, Rpower; apply Rmult_lt_0_compat; apply exp_pos. Qed.

Lemma power_mult alpha p q p' q' : 0 < p -> 0 < q -> 0 < p' -> 0 < q' ->
  power alpha (p * p') (q * q') = power alpha p q * power alpha p' q'.
Proof. intros; unfold power; rewrite <- !Rpower_mult_distr by assumption; ring. Qed.

Lemma moment_app alpha a b : moment_of alpha (a ++ b) = moment_of alpha a + moment_of alpha b.
Proof. induction a as [| [p q] a IH]; simpl; [lra | rewrite IH; lra]. Qed.

Lemma moment_nonneg alpha a : 0 <= moment_of alpha a.
Proof. induction a as [| [p q] a IH]; simpl; [lra | pose proof (power_pos alpha p q); lra]. Qed.

Definition positive (a : list (R * R)) : Prop := forall w, In w a -> 0 < fst w /\ 0 < snd w.

Lemma moment_scaled alpha p q a : 0 < p -> 0 < q -> positive a ->
  moment_of alpha (map (fun w => (p * fst w, q * snd w)) a) = power alpha p q * moment_of alpha a.
Proof.
  intros P Q H; induction a as [| [x y] a IH]; simpl; [lra |].
  assert (0 < x /\ 0 < y) as [X Y] by (apply (H (x, y)); left; reflexivity).
  rewrite IH by (intros w I; apply H; right; exact I); rewrite power_mult by assumption; lra.
Qed.

(* The moment of a whole adaptive run is within that of its budget; all path probabilities are positive. *)
Lemma run_positive_and_within alpha budget r : 1 < alpha -> within alpha budget r ->
  positive (paths r) /\ moment_of alpha (paths r) <= exp ((alpha - 1) * alpha * budget).
Proof.
  intros A W; induction W as [budget B | budget rho branches [R0 R1] [Pos Step] Rest IH].
  - split.
    + intros w [E | []]; subst; simpl; lra.
    + simpl; unfold power, Rpower; rewrite ln_1, !Rmult_0_r, exp_0.
      replace (1 * 1 + 0) with (exp 0) by (rewrite exp_0; lra).
      destruct (Req_dec ((alpha - 1) * alpha * budget) 0) as [E | N]; [rewrite E; lra |].
      left; apply exp_increasing; assert (0 <= (alpha - 1) * alpha) by (apply Rmult_le_pos; lra).
      assert (0 <= (alpha - 1) * alpha * budget) by (apply Rmult_le_pos; lra); lra.
  - assert (positive (paths (step rho branches))) as P.
    { intros w I; simpl in I; apply in_flat_map in I; destruct I as (b & Ib & I).
      apply in_map_iff in I; destruct I as (v & E & Iv); subst w; simpl.
      destruct (Pos b Ib), (IH b Ib) as [V _]; destruct (V v Iv); split; apply Rmult_lt_0_compat; assumption. }
    split; [exact P |]; clear P; simpl.
    set (after := exp ((alpha - 1) * alpha * (budget - rho))) in *.
    apply Rle_trans with (moment_of alpha (map fst branches) * after).
    + clear Step; induction branches as [| [[p q] next] branches IHb]; simpl; [lra |].
      rewrite moment_app.
      destruct (IH ((p, q), next) (or_introl eq_refl)) as [V M]; simpl in V, M.
      destruct (Pos ((p, q), next) (or_introl eq_refl)) as [Pp Pq]; simpl in Pp, Pq.
      rewrite moment_scaled by assumption.
      assert (moment_of alpha (flat_map (fun b => map (fun w => (fst (fst b) * fst w, snd (fst b) * snd w))
                (paths (snd b))) branches) <= moment_of alpha (map fst branches) * after) as T.
      { apply IHb; intros b I; [apply Pos | apply Rest | apply IH]; right; exact I. }
      pose proof (Rmult_le_compat_l (power alpha p q) _ _ (Rlt_le _ _ (power_pos alpha p q)) M); fold after in H.
      lra.
    + replace (exp ((alpha - 1) * alpha * budget)) with (exp ((alpha - 1) * alpha * rho) * after)
        by (unfold after; rewrite <- exp_plus; f_equal; ring).
      apply Rmult_le_compat_r; [left; apply exp_pos | exact Step].
Qed.

(* ---- from a moment to epsilon and delta ------------------------------------------------------------ *)

(* The probability of an event: a mark for each path. *)
Fixpoint chance (side : R * R -> R) (paths : list (R * R)) (event : list bool) : R :=
  match paths, event with
  | w :: rest, mark :: marks => (if mark then side w else 0) + chance side rest marks
  | _, _ => 0
  end.

Lemma excess alpha epsilon p q : 1 < alpha -> 0 < p -> 0 < q ->
  p <= exp epsilon * q + power alpha p q * exp (- ((alpha - 1) * epsilon)).
Proof.
  intros A P Q; pose proof (power_pos alpha p q) as W; pose proof (exp_pos (- ((alpha - 1) * epsilon))) as E.
  destruct (Rle_or_lt p (exp epsilon * q)) as [L | L].
  - pose proof (Rmult_lt_0_compat _ _ W E); lra.
  - assert (0 < exp epsilon * q) by (apply Rmult_lt_0_compat; [apply exp_pos | exact Q]).
    enough (p <= power alpha p q * exp (- ((alpha - 1) * epsilon))) by lra.
    assert (ln (exp epsilon * q) <= ln p) as B by (left; apply ln_increasing; assumption).
    rewrite ln_mult, ln_exp in B by (apply exp_pos || assumption).
    unfold power, Rpower; rewrite <- !exp_plus.
    rewrite <- (exp_ln p P) at 1.
    destruct (Req_dec (ln p) (alpha * ln p + (1 - alpha) * ln q + - ((alpha - 1) * epsilon))) as [X | X];
      [rewrite <- X; lra |].
    left; apply exp_increasing.
    assert (0 <= (alpha - 1) * (ln p - (epsilon + ln q))) by (apply Rmult_le_pos; lra); lra.
Qed.

(* Whoever keeps to a budget of rho promises every epsilon with this delta, at every order above 1. *)
Theorem a_run_within_its_budget_keeps_its_promise alpha budget epsilon r event :
  1 < alpha -> within alpha budget r ->
  chance fst (paths r) event <=
    exp epsilon * chance snd (paths r) event + exp ((alpha - 1) * (alpha * budget - epsilon)).
Proof.
  intros A W; destruct (run_positive_and_within alpha budget r A W) as [P M].
  set (factor := exp (- ((alpha - 1) * epsilon))).
  apply Rle_trans with (exp epsilon * chance snd (paths r) event + moment_of alpha (paths r) * factor).
  - clear M W; revert event; induction (paths r) as [| [p q] rest IH]; intros [| mark event]; simpl.
    + lra.
    + lra.
    + pose proof (moment_nonneg alpha rest); pose proof (power_pos alpha p q).
      assert (0 < factor) by apply exp_pos.
      assert (0 <= (power alpha p q + moment_of alpha rest) * factor) by (apply Rmult_le_pos; lra); lra.
    + assert (0 < p /\ 0 < q) as [Pp Pq] by (apply (P (p, q)); left; reflexivity).
      assert (positive rest) as Pr by (intros w I; apply P; right; exact I); specialize (IH Pr event).
      pose proof (excess alpha epsilon p q A Pp Pq) as X; fold factor in X.
      assert (0 < factor) by apply exp_pos.
      pose proof (Rmult_lt_0_compat _ _ (power_pos alpha p q) H).
      destruct mark; lra.
  - apply Rplus_le_compat_l; replace ((alpha - 1) * (alpha * budget - epsilon))
      with ((alpha - 1) * alpha * budget + - ((alpha - 1) * epsilon)) by ring.
    rewrite exp_plus; apply Rmult_le_compat_r; [left; apply exp_pos | exact M].
Qed.

Print Assumptions nearest_of_a_quotient.
Print Assumptions functions_of_a_release_cost_nothing.
Print Assumptions rounding_on_the_lattice_keeps_the_promise.
Print Assumptions a_run_within_its_budget_keeps_its_promise.
