"""Names the platforms of a wheel that holds a built program: its tag, which hatchling cannot be told otherwise."""

import os

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Platforms(BuildHookInterface):
    def initialize(self, version, build_data):
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-" + os.environ["WHEEL_TAGS"]
