/** Which addresses of the Internet Protocol belong to this machine, to private networks, or to no host of the public Internet. */
import { BlockList, isIP } from 'node:net';

/** @see https://www.iana.org/assignments/iana-ipv4-special-registry and https://www.iana.org/assignments/iana-ipv6-special-registry */
const IPV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];

/** Teredo, of `2001::/23`, holds addresses of IPv4 that cannot be relied on. */
const IPV6 = [
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '3fff::/20',
  '5f00::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
];

const listOf = (networks: readonly string[], family: 'ipv4' | 'ipv6'): BlockList => {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    list.addSubnet(address, Number(bits), family);
  }
  return list;
};

const NOT_PUBLIC = { ipv4: listOf(IPV4, 'ipv4'), ipv6: listOf(IPV6, 'ipv6') };

/**
 * Whether an address is loopback, private, link-local, unique-local, carrier-grade, of a metadata service, or not that of a host at all.
 * Addresses of IPv6 that contain one of IPv4 (mapped, compatible, NAT64, 6to4) are what that is. What is no address counts as private.
 */
export function isPrivateAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return NOT_PUBLIC.ipv4.check(address, 'ipv4');
  // An address with a zone is link-local, or is not meant for others.
  if (family !== 6 || address.includes('%')) return true;
  const groups = groupsOf(address);
  const embedded = embeddedIn(groups);
  if (embedded !== undefined) return NOT_PUBLIC.ipv4.check(embedded, 'ipv4');
  return NOT_PUBLIC.ipv6.check(address, 'ipv6');
}

/** The eight numbers of a valid address. */
function groupsOf(address: string): readonly number[] {
  const hex = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...bytes) => {
    const [a, b, c, d] = bytes.slice(0, 4).map(Number) as [number, number, number, number];
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  });
  const [before = '', after] = hex.split('::');
  const numbers = (part: string): number[] => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)));
  if (after === undefined) return numbers(before);
  const [first, last] = [numbers(before), numbers(after)];
  return [...first, ...new Array<number>(8 - first.length - last.length).fill(0), ...last];
}

/** The address of IPv4 in `::ffff:0:0/96`, `::ffff:0:0:0/96`, `::/96`, `64:ff9b::/96` and `2002::/16`. */
function embeddedIn(groups: readonly number[]): string | undefined {
  const dotted = (high = 0, low = 0): string => [high >> 8, high & 255, low >> 8, low & 255].join('.');
  const head = groups.slice(0, 6).join();
  if (groups[0] === 0x2002) return dotted(groups[1], groups[2]);
  const isEmbedding = head === '0,0,0,0,0,65535' || head === '0,0,0,0,65535,0' || head === '0,0,0,0,0,0' || head === '100,65435,0,0,0,0';
  return isEmbedding ? dotted(groups[6], groups[7]) : undefined;
}
