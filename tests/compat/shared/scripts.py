# SPDX-License-Identifier: MIT
"""Finds scripts: in each module of a package, every public function is one."""

import importlib
import inspect
import pkgutil


def servers(**options):
    """Marks a script that needs servers with other options."""
    def mark(function):
        function.server_options = options
        return function
    return mark


def scripts_in(package):
    """Each script as (name, function, options of its servers); its name says what it shows."""
    found = []
    for module_info in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"{package.__name__}.{module_info.name}")
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if function.__module__ == module.__name__ and not name.startswith("_"):
                options = getattr(function, "server_options", {})
                found.append((f"{module_info.name}: {name.replace('_', ' ')}", function, options))
    return found
