import { curveNames } from '#base';
import { listValue } from './flag-table.ts';
import { goInteger } from './go-values.ts';

/** The value and help of `--tls-curve-preferences`. */
export const CURVES_FLAG = {
  value: 'ids',
  help: 'how keys may be exchanged: TLS ids of 23 (P-256), 24, 25, 29 (X25519) and 4588 (X25519MLKEM768, where OpenSSL has it)',
  repeatable: true,
} as const;

/** For Node. Throws on ids that are no numbers or that this server lacks. */
export function curvesValue(text: string): string {
  return curveNames(listValue(text).map(goInteger));
}
