# SPDX-License-Identifier: Apache-2.0
"""Composition (numpy_composed.py): numpy.vectorize (NumPy 1.25 - 2.5) of a Python function that does arithmetic on floats. Its
bytecode is interpreted once, with arrays in place of numbers, and calls nothing of the program's. Both branches of an `if` are
computed, and where() takes from each. Where a divisor is 0, or a number or a result is not finite, Python may raise an exception
and NumPy a warning: then numpy.vectorize itself runs, as it does for an instruction that is not known here (CPython 3.9 - 3.14, by
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
MORE_THAN_A_FUNCTION = 0x3ac  # CO_VARARGS, CO_VARKEYWORDS, CO_GENERATOR, CO_COROUTINE, CO_ITERABLE_COROUTINE, CO_ASYNC_GENERATOR
NOTHING = object()


class CannotTrace(Exception):
    pass


def is_number(value):
    return type(value) is float and value - value == 0 or type(value) is int and abs(value) <= MOST_INTEGER


def without_type(value):
    """A float64 of NumPy's as a float."""
    return float(value) if type(value) is m.dtype('d').type else value


def is_numbers(value):
    return type(value) is m.ndarray and value.dtype.char == 'd'


class Path:
    """A way through the function: the place of its next instruction, its variables by name, its stack (without the interpreter's NULL
    beside a function), where it is taken (an array of bools, None: everywhere) and, at its end, the value returned."""

    def __init__(self, place, names, stack, taken):
        self.place, self.names, self.stack, self.taken, self.returned = place, names, stack, taken, None

    def pop(self, count):
        """The last `count` values, in the order in which they were pushed."""
        at = len(self.stack) - count
        values = self.stack[at:]
        del self.stack[at:]
        return values

    def branch(self, place, taken):
        return Path(place, dict(self.names), list(self.stack), taken if self.taken is None else m.logical_and(self.taken, taken))


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
                if value is getattr(module, own, NOTHING):
                    return (name,)
        for name in 'abs', 'min', 'max':
            if value is getattr(builtins, name):
                return name
        raise CannotTrace

    def run(self, path):
        """The value that the function returns where the path is taken."""
        while path.returned is None:
            instruction = self.instructions[path.place]
            path.place, self.left = path.place + 1, self.left - 1
            if self.left < 0 or instruction.opname not in INSTRUCTIONS:
                raise CannotTrace
            INSTRUCTIONS[instruction.opname](self, path, instruction)
        return path.returned

    # The instructions' actions: (tracer, path, instruction).

    def nothing(self, path, instruction):
        pass

    def load_variable(self, path, instruction):
        path.stack.append(path.names[instruction.argval])

    def load_two(self, path, instruction):
        path.stack.extend(path.names[name] for name in instruction.argval)

    def store(self, path, instruction):
        path.names[instruction.argval] = path.stack.pop()

    def store_two(self, path, instruction):
        for name in instruction.argval:
            path.names[name] = path.stack.pop()

    def store_and_load(self, path, instruction):
        stored, loaded = instruction.argval
        path.names[stored] = path.stack.pop()
        path.stack.append(path.names[loaded])

    def load_constant(self, path, instruction):
        if not is_number(instruction.argval):
            raise CannotTrace
        path.stack.append(instruction.argval)

    def load_cell(self, path, instruction):
        cells = dict(zip(self.code.co_freevars, self.function.__closure__ or ()))
        path.stack.append(self.known(cells[instruction.argval].cell_contents))

    def load_global(self, path, instruction):
        name, names = instruction.argval, self.function.__globals__
        builtins = names.get('__builtins__', {})
        builtins = builtins if type(builtins) is dict else vars(builtins)
        path.stack.append(self.known(names[name] if name in names else builtins[name]))

    def load_attribute(self, path, instruction):
        owner = path.stack.pop()
        if not hasattr(owner, '__name__') or owner.__name__ not in FUNCTIONS:
            raise CannotTrace
        path.stack.append(self.known(getattr(owner, instruction.argval)))

    def copy(self, path, instruction):
        path.stack.append(path.stack[-(instruction.arg or 1)])

    def swap(self, path, instruction):
        other = -(instruction.arg or 2)
        path.stack[-1], path.stack[other] = path.stack[other], path.stack[-1]

    def rotate_three(self, path, instruction):
        path.stack.insert(-2, path.stack.pop())

    def drop(self, path, instruction):
        path.stack.pop()

    def call_function(self, path, instruction):
        function, *operands = path.pop(1 + instruction.arg)
        path.stack.append(self.call(function, operands, path.taken))

    def binary(self, path, instruction):
        operator = OLDER_OPERATORS.get(instruction.opname.partition('_')[2], instruction.argrepr.rstrip('='))
        if operator not in OPERATORS:
            raise CannotTrace
        path.stack.append(self.operate(operator, *path.pop(2), path.taken))

    def negative(self, path, instruction):
        operand = path.stack.pop()
        path.stack.append(-operand if is_number(operand) else m.negative(operand))

    def compare(self, path, instruction):
        operands = path.pop(2)
        if instruction.argval not in COMPARISONS or not any(map(is_numbers, operands)) or not all(
                is_number(operand) or is_numbers(operand) for operand in operands):
            raise CannotTrace
        path.stack.append(getattr(m, COMPARISONS[instruction.argval])(*operands))

    def target(self, path, instruction):
        """The place that it jumps to. No path is a loop."""
        place = self.place_of[instruction.argval]
        if place < path.place:
            raise CannotTrace
        return place

    def jump(self, path, instruction):
        path.place = self.target(path, instruction)

    def jump_if(self, path, instruction):
        condition = path.stack.pop()
        if type(condition) is not m.ndarray:
            raise CannotTrace
        goes_on = m.logical_not(condition)
        jumps, goes_on = (condition, goes_on) if instruction.opname.endswith('TRUE') else (goes_on, condition)
        there = self.run(path.branch(self.target(path, instruction), jumps))
        here = self.run(path.branch(path.place, goes_on))
        for value in there, here:
            if type(value) not in self.results and not is_numbers(value):
                raise CannotTrace
        path.returned = m.where(jumps, there, here)

    def return_value(self, path, instruction):
        path.returned = path.stack.pop()

    def return_constant(self, path, instruction):
        self.load_constant(path, instruction)
        self.return_value(path, instruction)


INSTRUCTIONS = {name: action for action, names in (
    (Tracer.nothing, 'RESUME NOP CACHE PRECALL PUSH_NULL COPY_FREE_VARS EXTENDED_ARG TO_BOOL NOT_TAKEN'),
    (Tracer.load_variable, 'LOAD_FAST LOAD_FAST_CHECK LOAD_FAST_BORROW'),
    (Tracer.load_two, 'LOAD_FAST_LOAD_FAST LOAD_FAST_BORROW_LOAD_FAST_BORROW'),
    (Tracer.store, 'STORE_FAST'),
    (Tracer.store_two, 'STORE_FAST_STORE_FAST'),
    (Tracer.store_and_load, 'STORE_FAST_LOAD_FAST'),
    (Tracer.load_constant, 'LOAD_CONST LOAD_SMALL_INT'),
    (Tracer.load_cell, 'LOAD_DEREF'),
    (Tracer.load_global, 'LOAD_GLOBAL'),
    (Tracer.load_attribute, 'LOAD_ATTR LOAD_METHOD'),
    (Tracer.copy, 'COPY DUP_TOP'),
    (Tracer.swap, 'SWAP ROT_TWO'),
    (Tracer.rotate_three, 'ROT_THREE'),
    (Tracer.drop, 'POP_TOP'),
    (Tracer.call_function, 'CALL CALL_FUNCTION CALL_METHOD'),
    (Tracer.binary, 'BINARY_OP ' + ' '.join(kind + name for kind in ('BINARY_', 'INPLACE_') for name in OLDER_OPERATORS)),
    (Tracer.negative, 'UNARY_NEGATIVE'),
    (Tracer.compare, 'COMPARE_OP'),
    (Tracer.jump, 'JUMP_FORWARD JUMP_ABSOLUTE'),
    (Tracer.jump_if, 'POP_JUMP_IF_FALSE POP_JUMP_FORWARD_IF_FALSE POP_JUMP_IF_TRUE POP_JUMP_FORWARD_IF_TRUE'),
    (Tracer.return_value, 'RETURN_VALUE'),
    (Tracer.return_constant, 'RETURN_CONST')) for name in names.split()}


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
        made = tracer.run(Path(0, dict(zip(code.co_varnames, arguments)), [], None))
        if not is_numbers(made) or made.shape != shape or any(made is argument for argument in arguments):
            return NotImplemented
        is_right = tracer.checks[0]
        for check in tracer.checks[1:]:
            is_right = m.logical_and(is_right, check)
        return made if bool(is_right.all()) else NotImplemented
