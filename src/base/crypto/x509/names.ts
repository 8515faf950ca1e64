import { formatIp, parseIp } from '../../ip-address.ts';
import { contextTag, der, oid, sequence, sequenceOf, TAG } from './der.ts';
import { childrenOf, type DerElement, DerError, readOid, readText, structureError, syntaxError } from './der-reader.ts';

const COMMON_NAME = '2.5.4.3';
const ORGANIZATION = '2.5.4.10';
/** The name attributes that certificates copy from requests, in encoding order. */
const NAME_TYPES = ['2.5.4.6', ORGANIZATION, '2.5.4.11', '2.5.4.7', '2.5.4.8', '2.5.4.9', '2.5.4.17', COMMON_NAME, '2.5.4.5'];
/** Only the last value of these counts, all values of others. */
const SINGLE_TYPES: ReadonlySet<string> = new Set([COMMON_NAME, '2.5.4.5']);

/** The subject or issuer of a certificate. */
export interface Subject {
  readonly commonName: string;
  readonly organizations?: readonly string[];
}

/** A parsed subject. */
export interface DecodedSubject extends Required<Subject> {
  /** All strings by the object identifier of their type. Other values are ignored, as in Go. */
  readonly values: ReadonlyMap<string, readonly string[]>;
}

export function encodeSubject({ commonName, organizations = [], values }: Subject & Partial<DecodedSubject>): Buffer {
  const all = new Map(values).set(ORGANIZATION, organizations).set(COMMON_NAME, commonName === '' ? [] : [commonName]);
  return sequenceOf(NAME_TYPES.flatMap((type) => effective(type, all.get(type) ?? []).map((value) => attribute(type, value))));
}

function effective(type: string, values: readonly string[]): readonly string[] {
  return SINGLE_TYPES.has(type) ? values.slice(-1).filter((value) => value !== '') : values;
}

function attribute(type: string, value: string): Buffer {
  return der(TAG.set, sequence(oid(type), der(TAG.utf8String, Buffer.from(value))));
}

export function decodeSubject(name: DerElement): DecodedSubject {
  const values = new Map<string, string[]>();
  if (name.tag !== TAG.sequence) throw structureError("tags don't match");
  for (const part of childrenOf(name, TAG.set).flatMap((set) => childrenOf(set, TAG.sequence))) {
    const [type, value] = childrenOf(part);
    if (type === undefined || value === undefined) throw syntaxError('sequence truncated');
    const text = readText(value);
    if (text !== undefined) addTo(values, readOid(type), text);
  }
  return { commonName: values.get(COMMON_NAME)?.at(-1) ?? '', organizations: values.get(ORGANIZATION) ?? [], values };
}

function addTo(values: Map<string, string[]>, type: string, text: string): void {
  const texts = values.get(type);
  if (texts === undefined) values.set(type, [text]);
  else texts.push(text);
}

/** Subject alternative names. */
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

/** The extension's value; undefined without names. */
export function encodeAlternativeNames({ dnsNames = [], ipAddresses = [], emails = [], uris = [] }: AlternativeNames): Buffer | undefined {
  const parts = [
    ...dnsNames.map((name) => der(DNS, Buffer.from(name))),
    ...emails.map((email) => der(EMAIL, Buffer.from(email))),
    ...ipAddresses.map((address) => der(IP, addressBytes(address))),
    ...uris.map((uri) => der(URI, Buffer.from(uri))),
  ];
  return parts.length === 0 ? undefined : sequenceOf(parts);
}

export function decodeAlternativeNames(names: DerElement): Required<AlternativeNames> {
  if (names.tag !== TAG.sequence) throw new DerError('x509: invalid subject alternative names');
  const parts = childrenOf(names);
  const texts = (type: number, name: string) => parts.filter(({ tag }) => tag === type).map(({ content }) => ia5(content, name));
  const addresses = parts.filter(({ tag }) => tag === IP).map(({ content }) => addressText(content));
  return { dnsNames: texts(DNS, 'dNSName'), ipAddresses: addresses, emails: texts(EMAIL, 'rfc822Name'), uris: texts(URI, 'URI') };
}

function ia5(bytes: Uint8Array, name: string): string {
  if (bytes.some((byte) => byte >= 0x80)) throw new DerError(`x509: SAN ${name} is malformed`);
  return Buffer.from(bytes).toString('latin1');
}

function addressBytes(text: string): Buffer {
  const address = parseIp(text);
  if (address === undefined) throw new RangeError(`not an IP address: ${text}`);
  return Buffer.from(address.value.toString(16).padStart(address.family === 4 ? 8 : 32, '0'), 'hex');
}

function addressText(bytes: Uint8Array): string {
  if (bytes.length !== 4 && bytes.length !== 16) throw new DerError(`x509: cannot parse IP address of length ${bytes.length}`);
  return formatIp({ family: bytes.length === 4 ? 4 : 6, value: BigInt(`0x${Buffer.from(bytes).toString('hex')}`) });
}
