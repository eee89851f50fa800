"""Random selectors in the part of CEL that the model reads."""

DOMAINS = tuple('device.attributes["%s.io"]' % name for name in "aabx")


def expression(r, errors):
    """`errors`: it may fail on a device that lacks something, or has it of another type."""
    kind = r.below(10)
    if kind < 6:
        return atom(r, errors)
    if kind < 7:
        return "!(%s)" % expression(r, errors)
    return "%s %s %s" % (operand(r, errors), r.pick(["&&", "||"]), operand(r, errors))


def operand(r, errors):
    inner = expression(r, errors)
    return "(%s)" % inner if "&&" in inner or "||" in inner else inner


def atom(r, errors):
    kind = r.below(12)
    if kind < 3:
        return "true" if r.chance(90) else "false"
    if kind < 5:
        return 'device.driver %s "%s"' % (r.pick(["==", "!="]), r.pick(["a.io", "b.io", "c.io"]))
    if kind == 5:
        return "device.allowMultipleAllocations" + r.pick(["", " == false"])
    if kind == 6:
        name = r.pick(["mem", "disk"])
        path = 'device.capacity["a.io"].' + name
        test = path + r.pick(['.compareTo(quantity("3Gi")) >= 0', '.isLessThan(quantity("6Gi"))',
                              ' == quantity("4096Mi")', '.isGreaterThan(quantity("2G"))'])
        return test if errors else "has(%s) && %s" % (path, test)
    path, test = attribute_test(r)
    return test if errors else "has(%s) && %s" % (path, test)


def attribute_test(r):
    path = r.pick(DOMAINS) + "."
    kind = r.below(5)
    if kind == 0:
        return path + "model", '%smodel %s "%s"' % (path, r.pick(["==", "!="]), r.pick(["x", "y"]))
    if kind == 1:
        return path + "numa", "%snuma %s" % (path, r.pick(["== 0", "== 1", "!= 2", "< 2"]))
    if kind == 2:
        return path + "ok", path + "ok"
    if kind == 3:
        return path + "numa", "%snuma == %s" % (path, r.pick(['"0"', "1"]))
    test = r.pick(['isGreaterThan(semver("1.1.0"))', 'compareTo(semver("1.2.0")) == 0', 'isLessThan(semver("2.0.0"))'])
    return path + "ver", "%sver.%s" % (path, test)
