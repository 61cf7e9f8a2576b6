"""IP addresses and networks. From `apiserver/pkg/cel/library/ip.go` and `cidr.go`, and `net/netip` of Go."""

from __future__ import annotations

import ipaddress
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Any, Final

from gen.kubernetes.cel.environment import since, text_work
from gen.kubernetes.cel.values import CelError, Opaque

function = since(30)

_IP: Final = "net.IP"
_CIDR: Final = "net.CIDR"
_BROADCAST: Final = IPv4Address("255.255.255.255")
_LINK_LOCAL_MULTICAST: Final[tuple[IPv4Network | IPv6Network, ...]] = (
    IPv4Network("224.0.0.0/24"),
    *(IPv6Network(f"ff{flags:x}2::/16") for flags in range(16)),  # RFC 4291, section 2.7
)
Address = IPv4Address | IPv6Address


def _address(text: str) -> Address:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        raise CelError(
            f'IP Address "{text}" parse error during conversion from string: ParseAddr("{text}"): unable to parse IP'
        ) from None
    if "%" in text:
        raise CelError(f'IP address "{text}" with zone value is not allowed')
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        raise CelError(f'IPv4-mapped IPv6 address "{text}" is not allowed')
    return address


class _Network:
    """An address with the length of its prefix, as it was written."""

    __slots__ = ("address", "length")

    def __init__(self, address: Address, length: int) -> None:
        self.address, self.length = address, length

    @property
    def network(self) -> Any:
        return ipaddress.ip_network(f"{self.address}/{self.length}", strict=False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Network) and (self.address, self.length) == (other.address, other.length)

    def __hash__(self) -> int:
        return hash((self.address, self.length))

    def __str__(self) -> str:
        return f"{self.address}/{self.length}"


def _network(text: str) -> _Network:
    written, slash, length = text.rpartition("/")
    try:
        address = ipaddress.ip_address(written)
        valid = slash and length.isdigit() and length == str(int(length)) and int(length) <= address.max_prefixlen
    except ValueError:
        valid = False
    if not valid or "%" in written:
        again = "network address parse error during conversion from string: "
        raise CelError(f"{again}{again}netip.ParsePrefix(\"{text}\"): no '/'" if not slash else f"{again}{again}{text}")
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        raise CelError(f'IPv4-mapped IPv6 address "{text}" is not allowed')
    return _Network(address, int(length))


def _holds(read: Any, text: str) -> bool:
    try:
        read(text)
    except CelError:
        return False
    return True


function("ip(string) net.IP", work=text_work)(lambda text: Opaque(_IP, _address(text)))
function("isIP(string) bool", work=text_work)(lambda text: _holds(_address, text))
function("ip.isCanonical(string) bool", work=text_work)(lambda text: str(_address(text)) == text)
function("net.IP::family() int")(lambda address: int(address.content.version))
function("net.IP::isUnspecified() bool")(lambda address: bool(address.content.is_unspecified))
function("net.IP::isLoopback() bool")(lambda address: bool(address.content.is_loopback))


@function("net.IP::isLinkLocalMulticast() bool")
def _is_link_local_multicast(address: Opaque) -> bool:
    content = address.content
    same_version = (network for network in _LINK_LOCAL_MULTICAST if network.version == content.version)
    return any(content in network for network in same_version)


function("net.IP::isLinkLocalUnicast() bool")(lambda address: bool(address.content.is_link_local))


@function("net.IP::isGlobalUnicast() bool")
def _is_global_unicast(address: Opaque) -> bool:
    content = address.content
    if content == _BROADCAST:
        return False
    return not (content.is_unspecified or content.is_loopback or content.is_multicast or content.is_link_local)


function("string(net.IP) string", "string(net.CIDR) string")(lambda address: str(address.content))
function("cidr(string) net.CIDR", work=text_work)(lambda text: Opaque(_CIDR, _network(text)))
function("isCIDR(string) bool", work=text_work)(lambda text: _holds(_network, text))


@function("net.CIDR::containsIP(string) bool", "net.CIDR::containsIP(net.IP) bool")
def _contains_ip(network: Opaque, address: Any) -> bool:
    one = address.content if isinstance(address, Opaque) else _address(address)
    return one in network.content.network


@function("net.CIDR::containsCIDR(string) bool", "net.CIDR::containsCIDR(net.CIDR) bool")
def _contains_cidr(network: Opaque, other: Any) -> bool:
    inner = (other.content if isinstance(other, Opaque) else _network(other)).network
    outer = network.content.network
    return outer.version == inner.version and bool(inner.subnet_of(outer))


function("net.CIDR::ip() net.IP")(lambda network: Opaque(_IP, network.content.address))
function("net.CIDR::prefixLength() int")(lambda network: int(network.content.length))
function("net.CIDR::masked() net.CIDR")(
    lambda network: Opaque(_CIDR, _Network(network.content.network.network_address, network.content.length))
)
