import { lookupTable } from '../../lookup-table.ts';

/** What a field means to HTTP/2 itself. */
export const ROLE = {
  REGULAR: 0,
  METHOD: 1,
  SCHEME: 2,
  AUTHORITY: 3,
  PATH: 4,
  CONTENT_LENGTH: 5,
  TE: 6,
  /** Another pseudo-header field, a field of HTTP/1.1 connections, or a name or value with invalid characters. */
  MALFORMED: 7,
} as const;

export type FieldRole = (typeof ROLE)[keyof typeof ROLE];

const ROLES = lookupTable<FieldRole>({
  ':method': ROLE.METHOD,
  ':scheme': ROLE.SCHEME,
  ':authority': ROLE.AUTHORITY,
  ':path': ROLE.PATH,
  'content-length': ROLE.CONTENT_LENGTH,
  te: ROLE.TE,
  connection: ROLE.MALFORMED,
  'keep-alive': ROLE.MALFORMED,
  'proxy-connection': ROLE.MALFORMED,
  'transfer-encoding': ROLE.MALFORMED,
  upgrade: ROLE.MALFORMED,
});

/** One header field. Those of the tables are shared by all requests that refer to them. */
export class HeaderField {
  constructor(
    readonly name: string,
    /** Each character is one byte. */
    readonly value: string,
    readonly role: FieldRole,
  ) {}
}

/** A field that was sent as text. */
export function headerField(name: string, value: string): HeaderField {
  return new HeaderField(name, value, isValidValue(value) ? roleOf(name) : ROLE.MALFORMED);
}

function roleOf(name: string): FieldRole {
  const role = ROLES[name];
  if (role !== undefined) return role;
  return isValidName(name) ? ROLE.REGULAR : ROLE.MALFORMED;
}

/** Tokens in lower case. */
function isValidName(name: string): boolean {
  for (let i = 0; i < name.length; i++) if (NAME_CHARACTERS[name.charCodeAt(i)] !== 1) return false;
  return name !== '';
}

const NAME_CHARACTERS: Uint8Array = Uint8Array.from({ length: 256 }, (_, code) =>
  "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz".includes(String.fromCharCode(code)) ? 1 : 0,
);

const TAB = 0x09;
const SPACE = 0x20;
const DELETE = 0x7f;

/** Control characters would have a meaning in HTTP/1.1 behind a proxy. */
export function isValidValue(value: string): boolean {
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i);
    if ((code < SPACE && code !== TAB) || code === DELETE) return false;
  }
  return true;
}
