"""The parser class of the fake engine."""

from __future__ import annotations

import argparse


class FlexibleArgumentParser(argparse.ArgumentParser):
    """Takes what argparse takes."""
