"""Images of a batch script: of `srun`, of files that it makes of an image, and of the containers that it starts."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from gen.base import Findings, Location, regex
from gen.importers.draft import JobDraft, label, literal
from gen.importers.slurm.apptainer import PREFIX
from gen.importers.slurm.bash_text import cut
from gen.importers.slurm.expansion import OPEN, START, source_text
from gen.importers.slurm.options import Option, options_of
from gen.importers.slurm.programs import DroppedPart, Step
from gen.importers.slurm.site import TO_COMPLETE, Site
from gen.importers.slurm.values import BatchValues

_FILE: Final = regex(r"\.(?:sqsh|sif|simg|squashfs|tar)$|^[/.~]")
"""Images in a file of the machines."""
_OF_USER: Final = regex(r"^[^@/#]*@(?=[^/]*#)")
_DIGEST: Final = regex(r":(sha256:[0-9a-f]{64})$")
"""As enroot writes it."""


def copied_image(words: Sequence[str]) -> tuple[str, str] | None:
    """The file of an image that `enroot import` makes, and its name in a registry, which can be empty."""
    if tuple(words[:2]) != ("enroot", "import"):
        return None
    path, name, left = "", "", [*words[2:]]
    while left:
        word = left.pop(0)
        option, equals, value = word.partition("=")
        if option in ("-o", "--output", "-a", "--arch"):
            value = value if equals or not left else left.pop(0)
            path = value if option in ("-o", "--output") else path
        elif not word.startswith("-"):
            name = word
    plain = _OF_USER.sub("", PREFIX.sub("", name))
    image = plain.rpartition("#")[2].partition("@")[0]
    path = path or f"{image.replace('/', '+').replace(':', '+')}.sqsh"
    return path, f"docker://{plain}" if name.startswith("docker:") and OPEN not in plain else ""


def with_named_image(options: list[Option], images: dict[str, Option]) -> list[Option]:
    """The options of `srun`. A container that they only name has the image of the first `srun` with its name."""
    last = {one.name: one for one in options}
    name = last["container-name"].value.partition(":")[0] if "container-name" in last else ""
    if name and "container-image" in last:
        images[name] = last["container-image"]
    return [*options, images[name]] if name in images and "container-image" not in last else options


def of_container(options: Sequence[Sequence[Option]]) -> list[Option]:
    """The image and the mounts of the last container, for a training that `srun` does not start."""
    last: Sequence[Option] = next((one for one in reversed(options) if _last_image(one) is not None), ())
    return [one for one in last if one.name in ("container-image", "container-mounts")]


def other_images(options: Iterable[Sequence[Option]], own: Sequence[Option]) -> Iterator[DroppedPart]:
    """The images of `srun` that differ from that of the job."""
    image = _last_image(own)
    for one in dict.fromkeys(filter(None, map(_last_image, options))):
        if image is None or one.value != image.value:
            yield _other_image(one.value, one.place, image.value if image is not None else "")


def named_images(script: BatchValues) -> set[str]:
    """The images of the programs as the script has them."""
    return {image for image, _ in script.images} | {
        one.value for one in options_of_steps(script.steps, "container-image")
    }


def options_of_steps(steps: Iterable[Step], name: str) -> Iterator[Option]:
    """The options of `srun` with a name."""
    for step in steps:
        yield from (one for one in options_of([*step.options], step.place, Findings())[0] if one.name == name)


def _last_image(options: Sequence[Option]) -> Option | None:
    return next((one for one in reversed(options) if one.name == "container-image"), None)


def _other_image(written: str, place: Location, own: str) -> DroppedPart:
    other, here = (cut(source_text(PREFIX.sub("", one))) for one in (written, own))
    why = f"a pod has one image, {f'here `{here}`' if here else 'and the training starts without it'}"
    hint = "use one image for all programs, or import a script for each image"
    return DroppedPart(place, f"the image `{other}`", why, hint)


def _reference(written: str, site: Site) -> str:
    """An image of a registry; empty for a file of the machines, a placeholder, and what only a shell knows."""
    plain = PREFIX.sub("", written)
    known = site.images.get(written) or site.images.get(plain) or _DIGEST.sub(r"@\1", plain.replace("#", "/", 1))
    return "" if _FILE.search(known) or OPEN in known or {"$", "<"} & {*known} else known


def image_files(images: Iterable[str], script: BatchValues) -> list[str]:
    """Those of some images that are files of the machines, and not copies that the script makes of an image."""
    files = (one for one in images if _FILE.search(one) and not {OPEN, START, *"<>{}$"} & {*one})
    return sorted(one for one in files if rooted(one) not in script.copies)


def carry_image(draft: JobDraft, of_slurm: tuple[str, Location], script: BatchValues, image: str, site: Site) -> None:
    """Set the image: of the last container that the script starts itself, of Slurm, or the one of the user."""
    written, place = script.images[-1] if script.images else of_slurm
    if written not in site.images:
        written = script.copies.get(rooted(written)) or written
    for other, where in dict.fromkeys(script.images):
        if other != written:
            one = _other_image(other, where, written)
            draft.drop(where, one.what, one.why, one.hint)
    is_file = script.images and not PREFIX.match(written) and written not in site.images
    own = "" if is_file else _reference(written, site)
    named = own or image
    hint = "import it again with `--image`, or map it with `images` of a site file"
    if (open_image := TO_COMPLETE.search(written) if not image else TO_COMPLETE.match(named)) is not None:
        place = site.places.get("image", place) if image else place
        hint = "write the image there, or import it again with `--image`" if image else hint
        draft.cannot_run(place, f"`{open_image[0]}` is a placeholder", hint)
        named = f"change-me-{label(open_image[0], 'image')}"
    elif script.images and not own and script.is_unset(source_text(written)):
        hint = f"give it with `--define {source_text(written).strip('${}')}=VALUE`" if image else hint
        what, why = f"the value `{source_text(written)}` of the image", "the script gets it from outside"
        draft.drop(place, what, why, hint)
    elif script.images and not named and not TO_COMPLETE.search(written):
        draft.drop(place, "the image of the command", "it is a file of the machines", hint)
    elif not own:
        _report_other(draft, written, place, named, site)
    if named:
        draft.set(literal(named), "image", place=place)


def _report_other(draft: JobDraft, written: str, place: Location, named: str, site: Site) -> None:
    """Report that a job has no image, or another one than the script."""
    hint = "import it again with `--image`, or map it with `images` of a site file"
    if not named and written:
        draft.cannot_run(place, f"`{cut(source_text(written))}` is not the reference of an image", hint)
    elif not named:
        what, why = "the software of the nodes", "the script names no container image"
        draft.drop(draft.place, what, why, "import it again with `--image`")
    elif written and named == site.image:
        hint = "map it with `images` of the site file, if it is another one"
        what, why = f"the image `{cut(source_text(written))}`", "the job has the `image` of the site file"
        draft.drop(place, what, why, hint)


def rooted(path: str) -> str:
    """A path that starts with `/` or `.`."""
    path = posixpath.normpath(path)
    return path if path.startswith(("/", ".")) else f"./{path}"
