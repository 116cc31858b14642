"""Stands for torch in tests: the devices are in a variable."""

from __future__ import annotations

import json
import os

from fake_torch import torch_of

globals().update(vars(torch_of(json.loads(os.environ.get("FAKE_DEVICES", "[]")))))
