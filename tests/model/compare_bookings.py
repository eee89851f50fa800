#!/usr/bin/env python3
"""Compares what `fairlead plan` writes about claims on devices with the model, on random traces.

    compare_bookings.py --binary build/dev/fairlead --seeds 0..200

As compare_fleet_claims.py; compared of a claim's status are also driverName and allocation.
"""
import sys

import bookings
import bookings_traces
import compare_fleet_claims as fleet


def said(write, plain=fleet.said):
    what, text = plain(write)
    found = write["body"]["status"].get("allocation") or {} if what == "status" else {}
    return what, (text, write["body"]["status"].get("driverName"), found.get("availableOnClusters"),
                  found.get("resourceHandle")) if what == "status" else text


if __name__ == "__main__":
    fleet.said = said
    fleet.fleet_claims.FleetHub = bookings.BookingHub
    fleet.fleet_claims_traces.Maker = bookings_traces.Maker
    sys.exit(fleet.main())
