"""Leads Python in a copy of a repository to the copy's code, where an environment leads to the checkout's. evolve wrote it."""

import importlib.machinery
import importlib.util
import os
import sys

# Folders of the checkout from which modules are taken, each with the copy's.
LED = {}
# Folders of the copy that PYTHONPATH has because of them.
ADDED = []
# Folders of packages that lead to the checkout: a Python that looks in none of them is another environment's, and takes nothing from it.
PACKAGES = []
# Folders of the checkout that `sys.path` had.
REPLACED = []


def counterpart(path):
    """Returns where a path of the checkout is in the copy; any other as it is. What is installed stays where it is."""
    if not os.path.isabs(path):
        return path
    real = os.path.realpath(path)
    if real.startswith(os.path.realpath(sys.prefix) + os.sep):
        return path
    for theirs in sorted(LED, key=len, reverse=True):
        if real == theirs or real.startswith(theirs + os.sep):
            return LED[theirs] + real[len(theirs) :]
    return path


def lead(known):
    """Leads what a finder knows, names with one path or several, to the copy; what is not there it knows no more."""
    for name, paths in list(known.items()):
        several = isinstance(paths, (list, tuple))
        if not all(isinstance(path, str) for path in (paths if several else [paths])):
            continue
        led = [counterpart(path) for path in (paths if several else [paths])]
        if led == (list(paths) if several else [paths]):
            continue
        if several:
            known[name] = type(paths)(led)
        elif os.path.exists(led[0]) or any(os.path.exists(led[0] + end) for end in importlib.machinery.all_suffixes()):
            known[name] = led[0]
        else:
            del known[name]


def lead_all():
    real = [os.path.realpath(folder) if folder else folder for folder in sys.path]
    REPLACED.extend(folder for folder in real if LED.get(folder, folder) != folder)
    sys.path[:] = [LED.get(real, folder) for real, folder in zip(real, sys.path)]
    for finder in sys.meta_path:
        kind = finder if isinstance(finder, type) else type(finder)
        if "importlib" in kind.__module__:
            continue
        for place in (sys.modules.get(kind.__module__), kind, finder):
            for known in list(getattr(place, "__dict__", {}).values()):
                if type(known) is dict:
                    lead(known)


class Installed(importlib.machinery.FileFinder):
    """Finds what is installed in a folder, and none of its links to the checkout: the copy's is found before, if it is there."""

    def find_spec(self, name, target=None):
        spec = super().find_spec(name, target)
        if spec is not None and any(counterpart(place) != place for place in spec.submodule_search_locations or [spec.origin]):
            return None
        return spec


class Told:
    """Tells of distributions whose metadata lie in the folders of the checkout that `sys.path` had."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        return None

    @staticmethod
    def find_distributions(context):
        if "path" in vars(context):
            return
        of_checkout = type(context)(name=context.name, path=REPLACED)
        for finder in sys.meta_path:
            if finder is not Told and hasattr(finder, "find_distributions"):
                yield from finder.find_distributions(of_checkout)


def leads_back(folder):
    """Says whether a folder has a link to the checkout."""
    try:
        with os.scandir(folder) as entries:
            return any(entry.is_symlink() and counterpart(entry.path) != entry.path for entry in entries)
    except OSError:
        return False


def is_led(folder):
    """Says whether modules are taken from the copy where this folder comes into `sys.path`, as `pkg_resources` has it do."""
    led = counterpart(folder)
    return led != folder and (os.path.realpath(folder) in LED or os.path.isdir(led))


def lead_folders():
    linked = [folder for folder in sys.path if folder and leads_back(folder)]
    kinds = [
        (importlib.machinery.ExtensionFileLoader, importlib.machinery.EXTENSION_SUFFIXES),
        (importlib.machinery.SourceFileLoader, importlib.machinery.SOURCE_SUFFIXES),
        (importlib.machinery.SourcelessFileLoader, importlib.machinery.BYTECODE_SUFFIXES),
    ]

    def hook(folder):
        if is_led(folder):
            return importlib.machinery.FileFinder(counterpart(folder), *kinds)
        if folder in linked:
            return Installed(folder, *kinds)
        raise ImportError

    sys.path_hooks.insert(0, hook)
    for folder in list(sys.path_importer_cache):
        if folder in linked or is_led(folder):
            del sys.path_importer_cache[folder]


def leave_alone():
    """Lets Python find what it would find without this."""
    for folder in ADDED:
        if folder in sys.path:
            sys.path.remove(folder)


def run_next(here):
    """Runs the one that would have been run without this."""
    folders = [folder for folder in sys.path if os.path.realpath(folder) != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", folders)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


if any(os.path.realpath(folder) in PACKAGES for folder in sys.path):
    lead_all()
    lead_folders()
    sys.meta_path.append(Told)
else:
    leave_alone()
run_next(os.path.dirname(os.path.realpath(__file__)))
