# SPDX-License-Identifier: Apache-2.0
"""Random Python functions of two numbers: locals, branches, operators, functions of math and NumPy. program(seed) is the text of one."""
import random

OF_ONE = ("math.sin", "math.exp", "np.cos", "math.sqrt", "abs", "np.tanh", "math.log", "np.square", "math.fabs")
OF_TWO = ("min", "max", "math.hypot", "np.maximum", "math.atan2")


class Writer:
    def __init__(self, seed):
        self.random, self.lines = random.Random(seed), ["def function(a, b):"]

    def expression(self, depth, names):
        r = self.random
        if depth <= 0 or r.random() < 0.15:
            return r.choice([*names, "%.2f" % r.uniform(-3, 3), "2", "K", "1.5"])
        kind, part = r.random(), lambda: self.expression(depth - 1, names)
        if kind < 0.55:
            return "(%s %s %s)" % (part(), r.choice("+-*/") if r.random() < 0.9 else "**", part())
        if kind < 0.62:
            return "(-%s)" % part()
        if kind < 0.78:
            return "%s(%s)" % (r.choice(OF_ONE), part())
        if kind < 0.84:
            return "%s(%s, %s)" % (r.choice(OF_TWO), part(), part())
        return "(%s if %s else %s)" % (part(), self.condition(depth - 1, names), part())

    def condition(self, depth, names):
        kind, part = self.random.random(), lambda: self.expression(depth, names)
        if kind < 0.6:
            return "%s %s %s" % (part(), self.random.choice(("<", "<=", ">", ">=", "==", "!=")), part())
        if kind < 0.75:
            return "%s < %s <= %s" % (part(), part(), part())
        if kind < 0.85:
            return "not (%s > %s)" % (part(), part())
        return "(%s > %s %s %s < %s)" % (part(), part(), self.random.choice(("and", "or")), part(), part())

    def statement(self, indent, depth, names):
        """The names that are there behind it, on some paths."""
        r, margin = self.random, "    " * indent
        kind = r.random()
        if kind < 0.5:
            name = r.choice("cde")
            self.lines.append(margin + "%s = %s" % (name, self.expression(depth, names)))
            return names if name in names else [*names, name]
        if kind < 0.6:
            one, other = r.sample(names, 2)
            self.lines.append(margin + "%s, %s = %s, %s" % (one, other, other, one))
            return names
        if kind < 0.7:
            self.lines.append(margin + "%s += %s" % (r.choice(names), self.expression(depth - 1, names)))
            return names
        self.lines.append(margin + "if %s:" % self.condition(depth - 1, names))
        if depth > 1:
            names = self.statement(indent + 1, depth - 1, names)
        else:
            self.lines.append(margin + "    a = a * 1.5")
        if depth > 1 and r.random() < 0.3:
            self.lines.append(margin + "    return " + self.expression(depth - 1, names))
        if r.random() < 0.5:
            self.lines += [margin + "else:", margin + "    b = " + self.expression(depth - 1, names)]
        return names


def program(seed):
    writer, names = Writer(seed), ["a", "b"]
    for _ in range(writer.random.randint(0, 3)):
        names = writer.statement(1, 3, names)
    return "\n".join([*writer.lines, "    return " + writer.expression(3, names)])
