# SPDX-License-Identifier: Apache-2.0
"""`gpushim kernel`: installs and removes a Jupyter kernel under gpushim."""
import importlib.util
import os
import sys

from gpushim import kernelspec, variables
from gpushim.messages import complain


def add_to(commands):
    parser = commands.add_parser("kernel", help="install or remove a Jupyter kernel under gpushim", allow_abbrev=False,
                                 description="Installs or removes a Jupyter kernel: this interpreter under gpushim.")
    actions = parser.add_subparsers(dest="action", metavar="install|uninstall", required=True)
    for name, text in (("install", "install a kernel: this interpreter under gpushim"), ("uninstall", "remove it")):
        action = actions.add_parser(name, help=text, allow_abbrev=False)
        action.set_defaults(parser=action)
        action.add_argument("--name", default=kernelspec.DEFAULT_NAME, help="the kernel's name for Jupyter (default: %(default)s)")
        place = action.add_mutually_exclusive_group()
        place.add_argument("--user", action="store_true", help="in the user's folder of Jupyter's data (default)")
        place.add_argument("--prefix", help="in PREFIX/share/jupyter/kernels")
        place.add_argument("--sys-prefix", action="store_const", const=sys.prefix, dest="prefix",
                           help="in this Python's environment: --prefix %s" % sys.prefix.replace("%", "%%"))
    install = actions.choices["install"]
    install.add_argument("--display-name", default="Python 3 (gpushim)", help="in Jupyter's menus (default: %(default)s)")
    variables.add_options(install)


def execute(options):
    folder = kernelspec.folder_of(options.name, options.prefix, os.environ)
    if options.action == "uninstall":
        kernelspec.uninstall(folder)
        print("removed %s" % folder)
        return 0
    kernelspec.install(folder, kernelspec.specification(options.display_name, options.variables))
    print("installed %s: choose %r in Jupyter's menu" % (folder, options.display_name))
    if importlib.util.find_spec("ipykernel") is None:
        complain("%s lacks ipykernel, which the kernel needs: pip install ipykernel" % sys.executable)
    return 0
