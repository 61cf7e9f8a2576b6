"""Functions of API servers, with the examples of their documentation."""

from __future__ import annotations

from typing import Any

import pytest

from gen.kubernetes.cel.environment import FUNCTIONS, Environment
from gen.kubernetes.cel.program import compile_expression
from gen.kubernetes.cel.values import CelError
from tests.cases import for_each


def value_of(expression: str) -> Any:
    return compile_expression(expression, Environment({})).evaluate({})[0]


TRUE = [
    "quantity('1.5Gi').isGreaterThan(quantity('1G'))",
    "quantity('50M').compareTo(quantity('50Mi')) == -1",
    "quantity('50k').add(20) == quantity('50020')",
    "quantity('200M').isInteger() && quantity('200M').asInteger() == 200000000",
    "!isQuantity('1.3Zi') && isQuantity('1e3') && quantity('1000m') == quantity('1')",
    "quantity('1.1').asApproximateFloat() > 1.09 && sign(quantity('-1')) == -1",
    "quantity('50k').sub(quantity('20k')).isLessThan(quantity('30001'))",
    "url('https://example.com:80/path?k=v&k=w').getPort() == '80'",
    "url('https://[::1]:80/').getHostname() == '::1' && url('/absolute').getScheme() == ''",
    "url('https://user@h.com/with space/').getEscapedPath() == '/with%20space/'",
    "url('https://h.com/?k1=a&k2=b&k2=c').getQuery()['k2'] == ['b', 'c']",
    "isURL('https://example.com') && !isURL('../relative') && !isURL('https://a:b/')",
    "ip('192.168.0.1').family() == 4 && ip('::1').isLoopback() && isIP('10.0.0.1') && !isIP('10.0.0.01')",
    "ip.isCanonical('127.0.0.1') && !ip.isCanonical('2001:DB8::ABCD')",
    "ip('fe80::1').isLinkLocalUnicast()",
    "ip('224.0.0.1').isLinkLocalMulticast() && ip('10.0.0.1').isGlobalUnicast()",
    "!isIP('::ffff:1.2.3.4') && ip('0.0.0.0').isUnspecified() && string(ip('::1')) == '::1'",
    "cidr('192.168.0.0/24').containsIP('192.168.0.1') && cidr('10.0.0.0/8').containsIP(ip('10.1.1.1'))",
    "cidr('192.168.0.0/16').containsCIDR('192.168.10.0/24') && !cidr('10.0.0.0/24').containsCIDR('10.0.0.0/8')",
    "cidr('192.168.1.5/24').masked() == cidr('192.168.1.0/24') && cidr('::/0').prefixLength() == 0",
    "isCIDR('10.0.0.0/8') && !isCIDR('10.0.0.0/33') && string(cidr('10.0.0.5/8').ip()) == '10.0.0.5'",
    "semver('1.2.3').isLessThan(semver('1.10.0')) && semver('1.0.0-rc.1').compareTo(semver('1.0.0')) == -1",
    "isSemver('v1.0', true) && !isSemver('v1.0') && semver('01.02', true) == semver('1.2.0')",
    "semver('1.2.3-alpha.2').isGreaterThan(semver('1.2.3-alpha.1')) && semver('1.2.3').minor() == 2",
    "format.dns1123Label().validate('my-name') == optional.none()",
    "format.named('uuid').value().validate('x').value() == ['does not match the UUID format']",
    "!format.named('none').hasValue() && format.qualifiedName().validate('a.b/c') == optional.none()",
    "format.date().validate('2021-13-01').hasValue() && !format.byte().validate('aGVsbG8=').hasValue()",
    "'abc 123'.find('[0-9]+') == '123'",
    "'a1 b2'.findAll('[0-9]') == ['1', '2'] && 'a1b2'.findAll('[0-9]', 1) == ['1']",
    "'abc'.matches('^a.c$') && !'abc'.matches('^b')",
    "[1, 3].isSorted() && [1, 2].sum() == 3 && [1.5, 2.0].max() == 2.0 && ['b', 'a'].min() == 'a'",
    "[1, 2, 2].indexOf(2) == 1 && [1, 2, 2].lastIndexOf(2) == 2 && [duration('1s')].sum() == duration('1s')",
    "[1, 2, 3].slice(1, 2) == [2] && [[1], [2]].flatten() == [1, 2] && [2, 1].sort() == [1, 2]",
    "[1, 1].distinct() == [1] && lists.range(2) == [0, 1] && [1, 2].reverse() == [2, 1]",
    "['bb', 'a'].sortBy(x, x.size()) == ['a', 'bb'] && [1].first().value() == 1 && ![].last().hasValue()",
    "sets.contains([1, 2], [2]) && sets.equivalent([1], [1, 1]) && !sets.intersects([1], [2])",
    "'a-b'.split('-') == ['a', 'b'] && ['a', 'b'].join('-') == 'a-b' && 'a-b-c'.split('-', 2) == ['a', 'b-c']",
    "'tacocat'.substring(4) == 'cat' && 'aBc'.lowerAscii() == 'abc' && ' a '.trim() == 'a' && 'abc'.charAt(1) == 'b'",
    "'aa'.replace('a', 'b', 1) == 'ba' && 'hello'.indexOf('l') == 2 && 'hello'.lastIndexOf('l') == 3",
    "strings.quote('a\"b') == '\"a\\\\\"b\"' && 'abc'.reverse() == 'cba'",
    "duration('90m') == duration('1h30m') && duration('1500ms').getMilliseconds() == 1500",
    "timestamp('2024-02-29T12:30:00Z').getDayOfMonth() == 28 && timestamp(0).getFullYear() == 1970",
    "timestamp('2024-01-01T00:00:00+02:00') == timestamp('2023-12-31T22:00:00Z')",
    "timestamp('2024-01-01T00:00:00Z').getHours('+05:00') == 5",
    "timestamp('2024-01-07T00:00:00Z').getDayOfWeek() == 0",
    "string(1.5) == '1.5' && string(duration('1.5s')) == '1.5s'",
    "int('42') == 42 && uint(1) == 1u && double('1e3') == 1000.0",
    "'%s %s %s'.format([true, null, [1, 2]]) == 'true null [1, 2]'",
    "'%x %b %e'.format([255, 5, 1.0]) == 'ff 101 1.000000e+00'",
]


@for_each("expression", TRUE)
def test_what_a_server_evaluates_to_true(expression: str) -> None:
    assert value_of(expression) is True


@for_each(
    ("expression", "message"),
    [
        ("quantity('1.3Kii') == quantity('1')", "unable to parse quantity's suffix"),
        ("sign(quantity('x'))", "quantities must match the regular expression"),
        ("url('nope').getHost()", "URL parse error during conversion from string"),
        ("ip('300.0.0.1').family()", "parse error during conversion from string"),
        ("cidr('10.0.0.0').prefixLength()", "network address parse error during conversion from string"),
        ("semver('1.2').major()", "No Major.Minor.Patch elements found"),
        ("'abc'.substring(5)", "index out of range: 5"),
        ("'%d'.format(['a'])", "decimal clause can only be used on integers, was given string"),
        ("'%s'.format([])", "index 0 out of range"),
        ("timestamp(9223372036854775807)", "timestamp overflow"),
        ("[1, 2].slice(1, 5)", "cannot slice(1, 5), list is length 2"),
    ],
)
def test_what_a_server_cannot_evaluate(expression: str, message: str) -> None:
    with pytest.raises(CelError) as raised:
        value_of(expression)
    assert message in str(raised.value)


def test_every_function_is_used_by_an_example() -> None:
    """Operators and the functions of the authorizer are in `test_program.py`."""
    text = " ".join(TRUE)
    names = [name for name in FUNCTIONS if name[0].isalpha() and not _of_cluster(name)]
    unused = [name for name in names if f"{name}(" not in text]
    assert len(names) > 80
    assert set(unused) <= {
        *("bool", "bytes", "dyn", "type", "string", "optional.of", "optional.ofNonZeroValue", "optional.unwrap"),
        *("unwrapOpt", "or", "orValue", "value", "contains", "startsWith", "endsWith", "upperAscii", "size"),
        *("getMonth", "getDate", "getDayOfYear", "getMinutes", "getSeconds", "major", "patch", "getHost"),
        *(name for name in names if name.startswith("format.")),
    }


def _of_cluster(name: str) -> bool:
    return any("authorization" in overload.parameters[0].name for overload in FUNCTIONS[name] if overload.parameters)
