# SPDX-License-Identifier: Apache-2.0
"""Composition (numpy_composed.py): numpy.vectorize (NumPy 1.25 - 2.5) of a Python function that does arithmetic on floats. Its
bytecode is interpreted once, with arrays in place of numbers, and calls nothing of the program's. Both branches of an `if` are
computed, and where() takes from each. Where a divisor is 0, or a number or a result is not finite, Python may raise an exception
and NumPy a warning: then numpy.vectorize itself runs, as it does for an instruction that is not known here (CPython 3.9 - 3.13, by
the module dis)."""

MOST_INSTRUCTIONS = 512
MOST_INTEGER = 2 ** 53  # up to it each is a float
FUNCTIONS = {
    'math': {'sqrt': 'sqrt', 'exp': 'exp', 'expm1': 'expm1', 'log': 'log', 'log10': 'log10', 'log2': 'log2', 'log1p': 'log1p', 'sin': 'sin',
             'cos': 'cos', 'tan': 'tan', 'asin': 'arcsin', 'acos': 'arccos', 'atan': 'arctan', 'atan2': 'arctan2', 'sinh': 'sinh',
             'cosh': 'cosh', 'tanh': 'tanh', 'asinh': 'arcsinh', 'acosh': 'arccosh', 'atanh': 'arctanh', 'fabs': 'fabs', 'pow': 'power',
             'hypot': 'hypot'},
    'numpy': {name: name for name in (
        'sqrt', 'exp', 'exp2', 'expm1', 'log', 'log10', 'log2', 'log1p', 'sin', 'cos', 'tan', 'arcsin', 'arccos', 'arctan', 'arctan2',
        'sinh', 'cosh', 'tanh', 'arcsinh', 'arccosh', 'arctanh', 'fabs', 'absolute', 'power', 'hypot', 'maximum', 'minimum', 'square',
        'cbrt')}}
TWO_OPERANDS = frozenset(('arctan2', 'power', 'hypot', 'maximum', 'minimum'))
OPERATORS = {'+': 'add', '-': 'subtract', '*': 'multiply', '/': 'divide', '**': 'power'}
OLDER_OPERATORS = {'ADD': '+', 'SUBTRACT': '-', 'MULTIPLY': '*', 'TRUE_DIVIDE': '/', 'POWER': '**'}
COMPARISONS = {'<': 'less', '<=': 'less_equal', '>': 'greater', '>=': 'greater_equal', '==': 'equal', '!=': 'not_equal'}
PASSED = frozenset(('RESUME', 'NOP', 'CACHE', 'PRECALL', 'COPY_FREE_VARS', 'EXTENDED_ARG', 'TO_BOOL', 'NOT_TAKEN'))
MORE_THAN_A_FUNCTION = 0x3ac  # CO_VARARGS, CO_VARKEYWORDS, CO_GENERATOR, CO_COROUTINE, CO_ITERABLE_COROUTINE, CO_ASYNC_GENERATOR
NULL = object()  # what the interpreter puts beside a function on its stack


class CannotTrace(Exception):
    pass


def is_number(value):
    return type(value) is float and value - value == 0 or type(value) is int and abs(value) <= MOST_INTEGER


def without_type(value):
    """A float64 of NumPy's as a float."""
    return float(value) if type(value) is m.dtype('d').type else value


def is_numbers(value):
    return type(value) is m.ndarray and value.dtype.char == 'd'


class Tracer:
    """`function`: the Python function. `may_be_int`: a result that is an int becomes a float; else the first one says what all are.
    `checks`: arrays of bools that have to be all true."""

    def __init__(self, function, may_be_int):
        import dis
        self.function, self.code, self.checks, self.left = function, function.__code__, [], MOST_INSTRUCTIONS
        self.results = (float, int) if may_be_int else (float,)
        self.instructions = list(dis.get_instructions(self.code))
        self.place_of = {instruction.offset: place for place, instruction in enumerate(self.instructions)}

    def require(self, is_right, taken):
        """Of a number or of numbers, where the path is taken."""
        if type(is_right) is not m.ndarray:
            is_right = m.array(bool(is_right))
        self.checks.append(is_right if taken is None else m.logical_or(is_right, m.logical_not(taken)))

    def apply(self, name, operands, taken):
        """The function `name` of NumPy's."""
        made = getattr(m, name)(*operands)
        if type(made) is not m.ndarray:
            made = float(made)
        self.require(m.isfinite(made), taken)
        return made

    def operate(self, operator, one, other, taken):
        if not (is_number(one) or is_numbers(one)) or not (is_number(other) or is_numbers(other)):
            raise CannotTrace
        if is_number(one) and is_number(other):
            made = {'+': lambda: one + other, '-': lambda: one - other, '*': lambda: one * other, '/': lambda: one / other,
                    '**': lambda: one ** other}[operator]()
            if not is_number(made):
                raise CannotTrace
            return made
        if operator == '/':
            self.require(m.not_equal(other, 0), taken)
        return self.apply(OPERATORS[operator], (one, other), taken)

    def least(self, operands, compare):
        """As Python's min and max: of equal ones the first."""
        found = operands[0]
        for operand in operands[1:]:
            found = m.where(compare(operand, found), operand, found)
        return found

    def call(self, function, operands, taken):
        if not all(is_number(operand) or is_numbers(operand) for operand in operands):
            raise CannotTrace
        is_float = any(map(is_numbers, operands)) and not any(type(operand) is int for operand in operands)
        if function in ('min', 'max') and len(operands) > 1 and is_float:
            return self.least(operands, m.less if function == 'min' else m.greater)
        if function == 'abs' and len(operands) == 1 and is_numbers(operands[0]):
            return m.absolute(operands[0])
        if type(function) is tuple and len(operands) == 1 + (function[0] in TWO_OPERANDS) and any(map(is_numbers, operands)):
            return self.apply(function[0], operands, taken)
        raise CannotTrace

    def known(self, value):
        """What a name stands for, as the stack holds it: a number, a module, or a function by its name."""
        import builtins
        import math
        import numpy
        value = without_type(value)
        if is_number(value) or value is math or value is numpy:
            return value
        for module, names in ((math, FUNCTIONS['math']), (m, FUNCTIONS['numpy'])):
            for own, name in names.items():
                if value is getattr(module, own, NULL):
                    return (name,)
        for name in 'abs', 'min', 'max':
            if value is getattr(builtins, name):
                return name
        raise CannotTrace

    def load(self, instruction, names):
        name, kind = instruction.argval, instruction.opname
        if kind == 'LOAD_DEREF':
            cells = dict(zip(self.code.co_freevars, self.function.__closure__ or ()))
            return self.known(cells[name].cell_contents)
        if kind == 'LOAD_GLOBAL':
            names = self.function.__globals__
            builtins = names.get('__builtins__', {})
            return self.known(names[name] if name in names else (builtins if type(builtins) is dict else vars(builtins))[name])
        return names[name]

    def run(self, place, names, stack, taken):
        """The value that is returned from this instruction on."""
        while True:
            instruction = self.instructions[place]
            kind, value = instruction.opname, instruction.argval
            place, self.left = place + 1, self.left - 1
            if self.left < 0:
                raise CannotTrace
            if kind in PASSED:
                continue
            if kind == 'RETURN_VALUE':
                return stack.pop()
            if kind in ('LOAD_FAST', 'LOAD_FAST_CHECK', 'LOAD_FAST_BORROW', 'LOAD_DEREF', 'LOAD_GLOBAL'):
                if instruction.argrepr.startswith('NULL + ') or instruction.argrepr.endswith(' + NULL'):
                    stack.append(NULL)
                stack.append(self.load(instruction, names))
            elif kind in ('LOAD_FAST_LOAD_FAST', 'LOAD_FAST_BORROW_LOAD_FAST_BORROW'):
                stack.extend(names[name] for name in value)
            elif kind == 'STORE_FAST':
                names[value] = stack.pop()
            elif kind == 'STORE_FAST_STORE_FAST':
                names[value[0]], names[value[1]] = stack.pop(), stack.pop()
            elif kind == 'STORE_FAST_LOAD_FAST':
                names[value[0]] = stack.pop()
                stack.append(names[value[1]])
            elif kind in ('LOAD_CONST', 'LOAD_SMALL_INT') and is_number(value):
                stack.append(value)
            elif kind == 'RETURN_CONST' and is_number(value):
                return value
            elif kind in ('COPY', 'DUP_TOP'):
                stack.append(stack[-(instruction.arg or 1)])
            elif kind in ('SWAP', 'ROT_TWO'):
                other = -(instruction.arg or 2)
                stack[-1], stack[other] = stack[other], stack[-1]
            elif kind == 'ROT_THREE':
                stack.insert(-2, stack.pop())
            elif kind == 'POP_TOP':
                stack.pop()
            elif kind == 'PUSH_NULL':
                stack.append(NULL)
            elif kind in ('LOAD_ATTR', 'LOAD_METHOD'):
                owner = stack.pop()
                if not hasattr(owner, '__name__') or owner.__name__ not in FUNCTIONS:
                    raise CannotTrace
                if kind == 'LOAD_METHOD' or 'NULL' in instruction.argrepr:
                    stack.append(NULL)
                stack.append(self.known(getattr(owner, value)))
            elif kind in ('CALL', 'CALL_FUNCTION', 'CALL_METHOD'):
                count = instruction.arg
                operands = stack[len(stack) - count:]
                del stack[len(stack) - count:]
                function = stack.pop()
                if function is NULL:
                    function = stack.pop()
                elif stack and stack[-1] is NULL:
                    stack.pop()
                stack.append(self.call(function, operands, taken))
            elif kind == 'BINARY_OP' and instruction.argrepr.rstrip('=') in OPERATORS:
                other, one = stack.pop(), stack.pop()
                stack.append(self.operate(instruction.argrepr.rstrip('='), one, other, taken))
            elif kind.partition('_')[0] in ('BINARY', 'INPLACE') and kind.partition('_')[2] in OLDER_OPERATORS:
                other, one = stack.pop(), stack.pop()
                stack.append(self.operate(OLDER_OPERATORS[kind.partition('_')[2]], one, other, taken))
            elif kind == 'UNARY_NEGATIVE':
                operand = stack.pop()
                stack.append(-operand if is_number(operand) else m.negative(operand))
            elif kind == 'COMPARE_OP' and value in COMPARISONS:
                other, one = stack.pop(), stack.pop()
                if not any(map(is_numbers, (one, other))) or not all(is_number(part) or is_numbers(part) for part in (one, other)):
                    raise CannotTrace
                stack.append(getattr(m, COMPARISONS[value])(one, other))
            elif kind in ('JUMP_FORWARD', 'JUMP_ABSOLUTE') and self.place_of[value] >= place:
                place = self.place_of[value]
            elif kind in ('POP_JUMP_IF_FALSE', 'POP_JUMP_FORWARD_IF_FALSE', 'POP_JUMP_IF_TRUE', 'POP_JUMP_FORWARD_IF_TRUE'):
                condition = stack.pop()
                if type(condition) is not m.ndarray or self.place_of[value] < place:
                    raise CannotTrace
                jumps = condition if kind.endswith('TRUE') else m.logical_not(condition)
                return self.both(jumps, place, self.place_of[value], names, stack, taken)
            else:
                raise CannotTrace

    def both(self, jumps, place, target, names, stack, taken):
        goes_on = m.logical_not(jumps)
        paths = [condition if taken is None else m.logical_and(taken, condition) for condition in (jumps, goes_on)]
        there = self.run(target, dict(names), list(stack), paths[0])
        here = self.run(place, dict(names), list(stack), paths[1])
        for value in there, here:
            if type(value) not in self.results and not is_numbers(value):
                raise CannotTrace
        return m.where(jumps, there, here)


def is_observed():
    """Whether a debugger, a profiler or a measurement of coverage may count the function's calls."""
    import sys
    monitoring = getattr(sys, 'monitoring', None)
    return sys.gettrace() is not None or sys.getprofile() is not None or (
        monitoring is not None and any(monitoring.get_tool(number) is not None for number in range(6)))


def vectorize(self, *arguments):
    import numpy
    own, arguments = vars(self), [without_type(argument) for argument in arguments]
    function, types = own.get('pyfunc'), own.get('otypes')
    if type(function) is not type(vectorize) or own.get('signature') is not None or own.get('excluded'):
        return NotImplemented
    if types is not None and [m.dtype(one) for one in types] != [m.dtype('d')]:
        return NotImplemented
    code = function.__code__
    if code.co_argcount != len(arguments) or code.co_kwonlyargcount or code.co_flags & MORE_THAN_A_FUNCTION:
        return NotImplemented
    if code.co_cellvars or is_observed() or numpy.geterr()['under'] != 'ignore':
        return NotImplemented
    if not all(is_number(argument) or (is_numbers(argument) and is_plain(argument) and argument.flags.c_contiguous and argument.ndim)
               for argument in arguments):
        return NotImplemented
    shape = m.broadcast(*arguments).shape
    tracer = Tracer(function, types is not None)
    for argument in filter(is_numbers, arguments):
        tracer.require(m.isfinite(argument), None)
    with quiet():
        made = tracer.run(0, dict(zip(code.co_varnames, arguments)), [], None)
        if not is_numbers(made) or made.shape != shape or any(made is argument for argument in arguments):
            return NotImplemented
        is_right = tracer.checks[0]
        for check in tracer.checks[1:]:
            is_right = m.logical_and(is_right, check)
        return made if bool(is_right.all()) else NotImplemented
