"""Finding codes for `rendered/` and for the effects of a change on a cluster."""

from __future__ import annotations

from gen.base.codes import Code

MISSING = Code(
    "missing",
    "A file that belongs to `rendered/` does not exist.",
    "GitOps engines apply only commits.",
    "Run `gen render` and commit the result.",
)
STALE = Code(
    "stale",
    "A rendered file does not match the current jobs and overlays.",
    "The cluster keeps running the previous version.",
    "Run `gen render` and commit the result.",
)
HAND_EDITED = Code(
    "hand-edited",
    "A rendered file was edited by hand.",
    "The next render reverts the edit. An edited volume that no job uses is not reverted, because it may be data.",
    "Change the job, the overlay or a patch, and run `gen render`.",
)
LEFTOVER = Code(
    "leftover",
    "A rendered file remains although its job was removed.",
    "GitOps engines keep the run.",
    "Run `gen render` and commit the result.",
)
KEPT_RUN_DIFFERS = Code(
    "kept-run-differs",
    "A run that is behind the platform differs from the base branch, or is not there.",
    "gen keeps a run as it was committed if its job did not change. It can only be accepted as it was merged before: "
    "otherwise the file could contain anything.",
    "Restore the file from the base branch, or start a new run with `gen render --restart JOB`.",
)
KEPT_RUN_UNVERIFIED = Code(
    "kept-run-unverified",
    "Runs are behind the platform, and have no base to compare them with.",
    "gen keeps a run as it was committed if its job did not change, and compares it with the base branch in Git.",
    "Fetch the base branch, or set it with `--base REF`.",
)
KEPT_RUN_INVALID = Code(
    "kept-run-invalid",
    "A run that is behind the platform does not meet a rule of this version of gen or of the overlay.",
    "The run was accepted by earlier rules and goes on; the cluster may refuse to apply its object again.",
    "Start a new run with `gen render --restart JOB`, or wait for its end.",
)
KEPT_RUN_NOT_GRANTED = Code(
    "kept-run-not-granted",
    "A run that is behind the platform uses something that the overlay does not grant to its namespace any more.",
    "Its pods are judged by the overlay of today. A run that goes on keeps its permissions until it ends, which is "
    "a warning. A suspended run that goes on, and a record that is applied again, start pods, which is an error.",
    "Start a new run with `gen render --restart JOB`, keep its state, or grant the value again.",
)
FOREIGN_FILE = Code(
    "foreign-file",
    "`rendered/` contains a file that gen did not generate, and that no overlay lists in `rendered.keep`.",
    "GitOps engines apply it, and gen neither replaces nor removes it.",
    "Move it out of `rendered/`, or delete it.",
)
EXECUTABLE_FILE = Code(
    "executable-file",
    "A file in `rendered/` is executable.",
    "gen writes plain files only; a change of the mode is easily overlooked in a review.",
    "Run `gen render` and commit the result.",
)
EMPTY_FOLDER = Code(
    "empty-folder",
    "`rendered/` contains an empty folder.",
    "Git does not store empty folders, so it may be a submodule that was not fetched.",
    "Run `gen render`, which removes it; commit the result.",
)
SUBMODULE = Code(
    "submodule",
    "`jobs/`, `overlays/` or `rendered/` contains a Git submodule.",
    "GitOps engines fetch and apply its files, which are in another repository and were never checked.",
    "Remove the submodule, and add the files themselves.",
)
TEMPORARY_FILES = Code(
    "temporary-files",
    "`rendered/` contains temporary files of an interrupted `gen render`.",
    "GitOps engines could apply them if they are committed.",
    "Run `gen render`, which removes them; commit the result.",
)
UNUSED_STORAGE = Code(
    "unused-storage",
    "No job uses a volume or claim in `rendered/`.",
    "gen keeps it, because removing a volume can delete its data.",
    "Keep it, or run `gen render --prune-storage` if the data may be deleted.",
)
IMMUTABLE_STORAGE = Code(
    "immutable-storage",
    "A field of a volume or claim changed that cannot be updated in a cluster.",
    "Every later sync of the folder would fail.",
    "Revert the change, or declare a volume with another name.",
)
NOT_A_MANIFEST = Code(
    "not-a-manifest",
    "A file in `rendered/` is not a manifest with a single Kubernetes object.",
    "gen cannot determine its effect on the cluster.",
    "Run `gen render` to restore generated files; remove all others.",
)
NOT_RENDERED = Code(
    "not-rendered",
    "Jobs or overlays changed, but their files in `rendered/` did not.",
    "The plan compares rendered objects, so it does not show these changes.",
    "Run `gen render` first.",
)
PLAN_INCOMPLETE = Code(
    "plan-incomplete",
    "Errors keep the jobs from being rendered.",
    "The plan compares rendered objects, so the changes of these jobs are missing in it.",
    "Run `gen check` to see the errors, correct them and run `gen render`.",
)
NOT_AS_APPROVED = Code(
    "not-as-approved",
    "A merged file differs from the tree that the plan judged.",
    "Another change was merged in between, or the merge itself was edited, so the result has no approval.",
    "Plan the difference with `gen plan --base TREE`, and let changes wait for each other in a merge queue.",
)
RUN_EDITED = Code(
    "run-edited",
    "A run changed, but its name did not.",
    "The API server rejects the change, or applies only a part of it.",
    "Run `gen render`, which gives the run a new name; with stable names, delete the object in the cluster first.",
)
UNKNOWN_RUN = Code(
    "unknown-run",
    "A run continues from one that the job never had, or whose checkpoints it does not see.",
    "The program would find an empty folder and start from zero. Git's history has the earlier runs of a job and "
    "where they saved. In a clone with a part of the history, this is a warning.",
    "Name a run that `gen site` or `git log rendered/` shows, or run `gen rerun --resume`, which writes the last one.",
)
NEVER_RAN = Code(
    "never-ran",
    "A job was edited and set to `state: finished` in the same change.",
    "The rendered record describes a run that never existed, and replaces one that may be running.",
    "Finish the job and edit it in two pull requests.",
)
NOT_APPLIED = Code(
    "not-applied",
    "A GitOps engine would not start or stop a run as the change of its file says.",
    "The plan follows the rules of the engines: they leave objects with some annotations alone, and apply nothing of a "
    "job while the API server refuses one of its objects. GPUs of a run that an engine keeps stay in use.",
    "Remove what the message names, or delete the object in the cluster.",
)
MAY_STILL_RUN = Code(
    "may-still-run",
    "A job with an active run becomes `finished`, which stops nothing.",
    "Git does not contain whether the run has ended. In a namespace with a quota, this plan counts the run, but later "
    "plans cannot.",
    "End it with `gen stop JOB`, which keeps the record, too; or set `trustFinished: true` for the namespace. "
    "A ResourceQuota, which `resourceQuota: true` renders, limits what really runs.",
)
DATA_REMOVED = Code(
    "data-removed",
    "A volume or claim would be removed from Git.",
    "The location of the data would be lost, and a GitOps engine may delete the volume.",
    "Restore it, or use `--allow-data-removal` if the data may be deleted.",
)
DATA_RENAMED = Code(
    "data-renamed",
    "A volume or claim would be renamed.",
    "The data is not moved to the new volume.",
    "Keep the old name, or copy the data.",
)
DATA_SHRUNK = Code(
    "data-shrunk",
    "The size of a volume or claim would be reduced.",
    "Kubernetes rejects the change.",
    "Keep the size, or copy the data to a new volume.",
)
DATA_UNPROTECTED = Code(
    "data-unprotected",
    "A volume or claim would lose `Retain`, or an annotation that protects it from pruning.",
    "A later mistake could delete the data.",
    "Run `gen render` to restore the annotations, or revert the change.",
)
DELIVERY_REMOVED = Code(
    "delivery-removed",
    "An Application or a Kustomization would be removed.",
    "A GitOps engine may then delete every object that it applied.",
    "Make sure that its objects are kept before you remove or rename it.",
)
MOVES_OWNER = Code(
    "moves-owner",
    "A change moves objects to another overlay of the same cluster, or to another engine.",
    "The Application or Kustomization that applied them deletes runs when it goes. The new one of Argo CD refuses "
    "volumes that another has applied, so later changes of storage would never arrive.",
    "Run `gen move`, follow its steps, and merge with `gen plan --allow-move`.",
)
KIND_NO_LONGER_PERMITTED = Code(
    "kind-no-longer-permitted",
    "A change removes the last runs of a kind, and with them the kind from the project of Argo CD.",
    "Argo CD neither prunes nor deletes what its project does not permit, so the runs would keep their GPUs.",
    "List the kind under `operators` of the overlay until its runs are gone.",
)
APPLY_BY_HAND = Code(
    "apply-by-hand",
    "A change of projects or settings of Argo CD that no Application applies.",
    "Projects decide what Argo CD may do, so a commit cannot change them. Until somebody applies them, Argo CD refuses "
    "what is new.",
    "Run the command in the hint after the merge.",
)
TOO_MANY_REMOVED = Code(
    "too-many-removed",
    "A change removes more objects than `--max-removed` allows.",
    "A mistake in a pattern can remove everything.",
    "Review the removed objects; raise `--max-removed` if the removal is intended.",
)
LIMITS_UNKNOWN = Code(
    "limits-unknown",
    "The overlay cannot be read, so its GPU quotas are unknown.",
    "The plan cannot compare the requested GPUs with the quotas.",
    "Run `gen check` to see the errors of the overlay.",
)
UNKNOWN_USAGE = Code(
    "unknown-usage",
    "The pods or GPUs of a rendered run cannot be counted.",
    "The plan does not include the GPUs of this run.",
    "Run `gen render` to restore the file.",
)
