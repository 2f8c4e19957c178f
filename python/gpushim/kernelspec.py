# SPDX-License-Identifier: Apache-2.0
"""Jupyter's kernelspec of a Python kernel under gpushim: a folder with a kernel.json, which Jupyter finds by its place
(https://jupyter-client.readthedocs.io/en/stable/kernels.html#kernel-specs). Needs no package of Jupyter's."""
import json
import os
import re
import shutil
import sys

DEFAULT_NAME = "gpushim"
MARK = "gpushim"  # key of kernel.json's metadata, by which a kernelspec is known as one of ours
NAME = re.compile(r"[a-z0-9._-]+\Z", re.I)  # as Jupyter has it


def data_folder(environment):
    """The user's folder of Jupyter's data."""
    if environment.get("JUPYTER_DATA_DIR"):
        return environment["JUPYTER_DATA_DIR"]
    home = environment.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
    return os.path.join(home, "jupyter")


def folder_of(name, prefix, environment):
    """Where the kernelspec lies: under PREFIX/share/jupyter, or, where that is None, in the user's folder."""
    if not NAME.match(name):
        raise ValueError("%r is no name of a kernel: letters, digits, '.', '_' and '-' are" % name)
    base = data_folder(environment) if prefix is None else os.path.join(os.path.abspath(prefix), "share", "jupyter")
    return os.path.join(base, "kernels", name)


def specification(display_name, variables, python=sys.executable):
    """kernel.json. `gpushim run` becomes the kernel, so that Jupyter's signals reach it. Times and lines are measured for %%gpushim."""
    return {"argv": [python, "-m", "gpushim", "run", "-m", "ipykernel_launcher", "-f", "{connection_file}"],
            "display_name": display_name, "language": "python", "metadata": {"debugger": True, MARK: {}},
            "env": dict({"GPUSHIM_REPORT": "json:/dev/null,lines"}, **variables)}


def is_ours(folder):
    try:
        with open(os.path.join(folder, "kernel.json"), encoding="utf-8") as file:
            return MARK in json.load(file).get("metadata", {})
    except (OSError, ValueError):
        return False


def install(folder, spec):
    """Writes the kernelspec, also over an earlier one of ours. FileExistsError: another kernel has the name."""
    if os.path.lexists(folder) and not is_ours(folder):
        raise FileExistsError("%s is another kernel's: choose another --name" % folder)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "kernel.json"), "w", encoding="utf-8") as file:
        json.dump(spec, file, indent=1)
        file.write("\n")


def uninstall(folder):
    """FileNotFoundError: there is no kernelspec of ours."""
    if not is_ours(folder):
        raise FileNotFoundError("there is no kernel of gpushim's in %s" % folder)
    shutil.rmtree(folder)
