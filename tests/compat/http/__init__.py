# SPDX-License-Identifier: MIT
"""Requests and their answers. This file makes it a package that goes before Python's own http,
which nothing here needs."""
