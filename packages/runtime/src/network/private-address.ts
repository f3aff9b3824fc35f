import { lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

const list = new BlockList();
for (const [address, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const)
  list.addSubnet(address, bits, 'ipv4');
for (const [address, bits] of [
  ['::', 127],
  ['fc00::', 7],
  ['fe80::', 10],
] as const)
  list.addSubnet(address, bits, 'ipv6');

/** Of this machine or its network, where services trust whoever can reach them. */
export function isPrivateAddress(address: string): boolean {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return isPrivateAddress(mapped);
  const family = isIP(address);
  return family === 0 || list.check(address, family === 4 ? 'ipv4' : 'ipv6');
}

/** Where a URL leads by an address alone, which is not looked up, so nobody else would check it. */
export function isPrivateHost({ hostname }: URL): boolean {
  const host = hostname.replace(/^\[|\]$/g, '');
  return isIP(host) !== 0 && isPrivateAddress(host);
}

/** The very addresses that are connected to are checked: a name that changes in between leads nowhere else. */
export function publicLookup(refusal: (host: string) => Error): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, '', 0);
      const [first] = addresses;
      const inside = addresses.find(({ address }) => isPrivateAddress(address));
      if (inside !== undefined || first === undefined) return callback(refusal(hostname), '', 0);
      if (options.all === true) return callback(null, addresses);
      return callback(null, first.address, first.family);
    });
  };
}
