"""Not a module: the change that evolve measures takes this one out.

The environment would find it in the checkout, behind the copy that is measured. What it finds anywhere else is taken.
"""

import importlib.machinery
import importlib.util
import os
import sys

_name = __spec__.name
_package = _name.rpartition(".")[0]
_searched = sys.modules[_package].__path__ if _package else sys.path
_left_out = [os.path.realpath(os.path.join(folder, *_package.split("."))) for folder in FOLDERS]
_searched = [folder for folder in _searched if os.path.realpath(folder) not in _left_out]
_spec = importlib.machinery.PathFinder.find_spec(_name, _searched)
if _spec is None:
    raise ModuleNotFoundError(f"No module named {_name!r}", name=_name)
_module = importlib.util.module_from_spec(_spec)
sys.modules[_name] = _module
if _spec.loader is not None:
    _spec.loader.exec_module(_module)
