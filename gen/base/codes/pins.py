"""Finding codes for pins: digests of images and commits of code."""

from __future__ import annotations

from gen.base.codes import Code

MUTABLE_REF = Code(
    "mutable-ref",
    "A job has code of a branch or tag and no pin for it, or an image without a digest and a pin in an overlay with "
    "`pins: warn` or `required`.",
    "Pods of one run that start at different times can get different content, and the run cannot be repeated.",
    "Run `gen pin JOB`, or write the digest or the full commit hash into the job.",
)
INVALID_LOCK = Code(
    "invalid-lock",
    "The lock of a job has a value that is not a pin: another image, a digest or commit of a wrong form, or an unknown "
    "field.",
    "A lock contains the digests and commits of its job. It cannot choose another image.",
    "Run `gen pin JOB`, which writes the lock.",
)
UNUSED_PIN = Code(
    "unused-pin",
    "The lock of a job pins an image, or a ref of a repository, that the job does not have in any overlay.",
    "It has no effect, and a reviewer would trust it. It is an error for another tag of an image, or another ref of a "
    "repository, that the job file names, and else a warning: the platform changes its images without the locks.",
    "Run `gen pin JOB`, which removes it.",
)
LOCK_WITHOUT_JOB = Code(
    "lock-without-job",
    "A lock has no job file with its name in the same folder.",
    "It has no effect. A job that gets this name later would have the pins.",
    "Remove the lock, or rename it with its job.",
)
MOVED_PIN = Code(
    "moved-pin",
    "A tag or a branch has another content than its pin, or does not exist any more.",
    "Jobs keep the content of their pins. `gen pin --update` takes the new one, which starts new runs.",
    "Run `gen pin --update JOB` if the job should have the new content.",
)
MISSING_IMAGE = Code(
    "missing-image",
    "A registry does not have an image, or the digest of a pin.",
    "Pods could not pull it.",
    "Correct the name, push the image, or run `gen pin --update JOB`.",
)
MISSING_COMMIT = Code(
    "missing-commit",
    "A Git server does not have a repository, a branch or tag, or the commit of a pin.",
    "Pods could not fetch their code, and would not start.",
    "Correct `code`, push the commit, or run `gen pin --update JOB`.",
)
WRONG_PLATFORM = Code(
    "wrong-platform",
    "An image is not built for the platform of the nodes.",
    "Its containers end with `exec format error`, or nodes cannot pull it.",
    "Push the image for this platform, or choose nodes that it fits.",
)
MIRRORS_DIFFER = Code(
    "mirrors-differ",
    "Overlays pull an image from registries that have different content for its tag.",
    "A pin is one digest for all overlays.",
    "Copy the image between the registries with its digest, for all platforms.",
)
_OTHERS = "All other images and refs are pinned."
REMOTE_UNREACHABLE = Code(
    "remote-unreachable",
    "A registry or a Git server does not answer, or its certificate is not of a known authority.",
    f"The content of its images or refs is unknown. {_OTHERS}",
    "Check the name, the network, the proxy and the certificates, and run the command again.",
)
REMOTE_LOGIN = Code(
    "remote-login",
    "A registry or a Git server does not accept the credentials, or there are none.",
    f"The content of its images or refs is unknown. {_OTHERS}",
    "Log in with `docker login`, or configure credentials for Git.",
)
REMOTE_ANSWER = Code(
    "remote-answer",
    "A registry answers with an error, or not as a registry does.",
    f"The content of its images is unknown. {_OTHERS}",
    "Check the name of the registry, or run the command again later.",
)
