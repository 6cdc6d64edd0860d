# SPDX-License-Identifier: MIT
"""The scripts: in each module, every public function is one, and its name says what it shows."""

import importlib
import inspect
import pkgutil


def servers(**options):
    """Marks a script that needs servers with other options."""
    def mark(function):
        function.server_options = options
        return function
    return mark


def all_scripts():
    """Each script as (name, function, options of its servers)."""
    found = []
    for module_info in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{module_info.name}")
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if function.__module__ == module.__name__ and not name.startswith("_"):
                options = getattr(function, "server_options", {})
                found.append((f"{module_info.name}: {name.replace('_', ' ')}", function, options))
    return found
