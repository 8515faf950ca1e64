import { formatIp, parseIp } from '../ip-address.ts';
import { childrenOf, contextTag, type DerElement, der, oid, oidText, sequence, TAG } from './der.ts';

const COMMON_NAME = '2.5.4.3';
const ORGANIZATION = '2.5.4.10';

/** Whom a certificate is for, or who signed it. */
export interface Subject {
  readonly commonName: string;
  readonly organizations?: readonly string[];
}

export function encodeSubject({ commonName, organizations = [] }: Subject): Buffer {
  return sequence(...organizations.map((name) => attribute(ORGANIZATION, name)), attribute(COMMON_NAME, commonName));
}

function attribute(type: string, value: string): Buffer {
  return der(TAG.set, sequence(oid(type), der(TAG.utf8String, Buffer.from(value))));
}

export function decodeSubject(name: DerElement): Required<Subject> {
  const values = new Map<string, string[]>();
  for (const part of childrenOf(name).flatMap(childrenOf)) {
    const [type, value] = childrenOf(part);
    const key = type === undefined ? '' : oidText(type.content);
    values.set(key, [...(values.get(key) ?? []), Buffer.from(value?.content ?? []).toString('utf8')]);
  }
  return { commonName: values.get(COMMON_NAME)?.at(-1) ?? '', organizations: values.get(ORGANIZATION) ?? [] };
}

/** Under which names and addresses the holder of a certificate is reached. */
export interface AlternativeNames {
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
  readonly emails?: readonly string[];
  readonly uris?: readonly string[];
}

const EMAIL = contextTag(1, false);
const DNS = contextTag(2, false);
const URI = contextTag(6, false);
const IP = contextTag(7, false);

/** The value of the extension; undefined when there are no names. */
export function encodeAlternativeNames({ dnsNames = [], ipAddresses = [], emails = [], uris = [] }: AlternativeNames): Buffer | undefined {
  const parts = [
    ...dnsNames.map((name) => der(DNS, Buffer.from(name))),
    ...emails.map((email) => der(EMAIL, Buffer.from(email))),
    ...ipAddresses.map((address) => der(IP, addressBytes(address))),
    ...uris.map((uri) => der(URI, Buffer.from(uri))),
  ];
  return parts.length === 0 ? undefined : sequence(...parts);
}

export function decodeAlternativeNames(names: DerElement): Required<AlternativeNames> {
  const parts = childrenOf(names);
  const texts = (wanted: number) => parts.filter(({ tag }) => tag === wanted).map(({ content }) => Buffer.from(content).toString('utf8'));
  const addresses = parts.filter(({ tag }) => tag === IP).map(({ content }) => addressText(content));
  return { dnsNames: texts(DNS), ipAddresses: addresses, emails: texts(EMAIL), uris: texts(URI) };
}

function addressBytes(text: string): Buffer {
  const address = parseIp(text);
  if (address === undefined) throw new RangeError(`not an IP address: ${text}`);
  return Buffer.from(address.value.toString(16).padStart(address.family === 4 ? 8 : 32, '0'), 'hex');
}

function addressText(bytes: Uint8Array): string {
  return formatIp({ family: bytes.length === 4 ? 4 : 6, value: BigInt(`0x${Buffer.from(bytes).toString('hex')}`) });
}
