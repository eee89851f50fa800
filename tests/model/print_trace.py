#!/usr/bin/env python3
"""Prints the random trace of a seed as a scenario's head (tests/scenarios/scenario_file.h): settings, input, `----`.

    print_trace.py SEED
"""
import json
import sys

import traces


def setting(key, value):
    # YAML that is JSON, without spaces: a scenario's arguments are words.
    return "args: --set %s=%s" % (key, json.dumps(value, separators=(",", ":")) if isinstance(value, dict) else value)


def main():
    maker = traces.Maker(int(sys.argv[1]))
    config = maker.config()
    print("# Random trace %s, features %s" % (sys.argv[1], " ".join(sorted(maker.on))))
    print(setting("claims.create", "false"))
    for key, value in config["debounce"].items():
        number = key in ("growDeadbandPercent", "flapPenalty", "flapSuppress", "flapReuse", "massShrinkPercent")
        print(setting("debounce." + key, value if number else "%dms" % value))
    print(setting("capacity.headroom", config["headroom"]))
    print(setting("capacity.overbookPercent", config["overbookPercent"]))
    print(traces.render(maker.make()) + "----")


if __name__ == "__main__":
    main()
