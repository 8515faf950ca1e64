import { isInt64, isUint64, toInt } from '../values/integers.ts';
import { CelDouble, CelUint, type CelValue } from '../values/value.ts';
import type { Token } from './lexer.ts';
import { UnescapeError, unescapeBytes, unescapeString } from './unescape.ts';

/** Why a literal has no value. */
export class LiteralError {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

/** The value of a literal's token. Undefined: the token is no literal. */
export function literalValue({ type, text }: Token, sign: '' | '-'): CelValue | LiteralError | undefined {
  switch (type) {
    case 'NUM_INT':
      return intLiteral(sign, text) ?? new LiteralError('invalid int literal');
    case 'NUM_UINT':
      return uintLiteral(text) ?? new LiteralError('invalid uint literal');
    case 'NUM_FLOAT':
      return doubleLiteral(sign + text) ?? new LiteralError('invalid double literal');
    case 'STRING':
      return unescaped(unescapeString(text));
    case 'BYTES':
      return unescaped(unescapeBytes(text));
    case 'true':
      return true;
    case 'false':
      return false;
    case 'null':
      return null;
    default:
      return undefined;
  }
}

function unescaped(value: string | Uint8Array | UnescapeError): CelValue | LiteralError {
  return value instanceof UnescapeError ? new LiteralError(value.message) : value;
}

function intLiteral(sign: string, text: string): CelValue | undefined {
  const magnitude = BigInt(text);
  const value = sign === '' ? magnitude : -magnitude;
  return isInt64(value) ? toInt(value) : undefined;
}

function uintLiteral(text: string): CelValue | undefined {
  const value = BigInt(text.slice(0, -1));
  return isUint64(value) ? new CelUint(value) : undefined;
}

function doubleLiteral(text: string): CelValue | undefined {
  const value = Number(text);
  return Number.isFinite(value) ? new CelDouble(value) : undefined;
}
