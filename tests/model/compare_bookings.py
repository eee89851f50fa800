#!/usr/bin/env python3
"""Compares what `fairlead plan` writes about claims on devices with the model, on random traces.

    compare_bookings.py --binary build/dev/fairlead --seeds 0..200

As compare_fleet_claims.py, on traces with bookings.
"""
import sys

import bookings_traces
import compare_fleet_claims

if __name__ == "__main__":
    sys.exit(compare_fleet_claims.main(bookings_traces.Maker))
