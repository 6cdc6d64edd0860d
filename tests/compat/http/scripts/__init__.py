# SPDX-License-Identifier: MIT
"""The scripts: in each module, every public function is one, and its name says what it shows."""
