import { compareBytes, goQuote } from '../../values/go-format.ts';
import { type CelLibrary, declare, method, overload } from '../check/declarations.ts';
import { BOOL, closedType, INT, STRING } from '../types.ts';
import { isUint64, toInt } from '../values/integers.ts';
import { type CelInt, CelObject, type CelValue, EvalFailure, noSuchOverload } from '../values/value.ts';

export const SEMVER_TYPE = closedType('kubernetes.Semver');

/** A semantic version. */
interface Version {
  readonly numbers: readonly [bigint, bigint, bigint];
  readonly prerelease: readonly (bigint | string)[];
  readonly build: readonly string[];
}

export class SemverValue extends CelObject {
  readonly type = SEMVER_TYPE;
  readonly version: Version;

  constructor(version: Version) {
    super();
    this.version = version;
  }

  static parse(text: string): SemverValue {
    return new SemverValue(parseVersion(text));
  }

  equals(other: CelValue): boolean {
    if (!(other instanceof SemverValue)) throw noSuchOverload();
    return this.compare(other) === 0;
  }

  /** By precedence: build metadata does not count. */
  compare(other: SemverValue): number {
    for (let i = 0; i < 3; i++) {
      const a = this.version.numbers[i] ?? 0n;
      const b = other.version.numbers[i] ?? 0n;
      if (a !== b) return a < b ? -1 : 1;
    }
    return comparePrereleases(this.version.prerelease, other.version.prerelease);
  }

  override toJson(): string {
    const { numbers, prerelease, build } = this.version;
    return numbers.join('.') + (prerelease.length > 0 ? `-${prerelease.join('.')}` : '') + (build.length > 0 ? `+${build.join('.')}` : '');
  }
}

function comparePrereleases(a: Version['prerelease'], b: Version['prerelease']): number {
  if (a.length === 0 || b.length === 0) return Math.sign(b.length - a.length);
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const order = comparePrerelease(a[i] ?? '', b[i] ?? '');
    if (order !== 0) return order;
  }
  return Math.sign(a.length - b.length);
}

function comparePrerelease(a: bigint | string, b: bigint | string): number {
  if (typeof a === 'bigint' && typeof b === 'bigint') return a < b ? -1 : a > b ? 1 : 0;
  if (typeof a === 'string' && typeof b === 'string') return Math.sign(compareBytes(a, b));
  return typeof a === 'bigint' ? -1 : 1;
}

function parseVersion(text: string): Version {
  if (text === '') throw new EvalFailure('Version string empty');
  const parts = splitVersion(text);
  if (parts.length !== 3) throw new EvalFailure('No Major.Minor.Patch elements found');
  const [major = '', minor = '', rest = ''] = parts;
  const plus = rest.indexOf('+');
  const beforeBuild = plus < 0 ? rest : rest.slice(0, plus);
  const dash = beforeBuild.indexOf('-');
  const patch = dash < 0 ? beforeBuild : beforeBuild.slice(0, dash);
  const numbers = [versionNumber('Major', major), versionNumber('Minor', minor), versionNumber('Patch', patch)] as const;
  const prerelease =
    dash < 0
      ? []
      : beforeBuild
          .slice(dash + 1)
          .split('.')
          .map(prereleasePart);
  const build =
    plus < 0
      ? []
      : rest
          .slice(plus + 1)
          .split('.')
          .map(buildPart);
  return { numbers, prerelease, build };
}

/** Splits at the first two dots. */
function splitVersion(text: string): string[] {
  const [major = '', minor, ...rest] = text.split('.');
  return [major, ...(minor === undefined ? [] : [minor]), ...(rest.length === 0 ? [] : [rest.join('.')])];
}

function versionNumber(name: string, text: string): bigint {
  if (!/^[0-9]*$/.test(text)) throw new EvalFailure(`Invalid character(s) found in ${name.toLowerCase()} number ${goQuote(text)}`);
  if (/^0[0-9]/.test(text)) throw new EvalFailure(`${name} number must not contain leading zeroes ${goQuote(text)}`);
  return parseUnsigned(text);
}

function parseUnsigned(text: string): bigint {
  if (text === '') throw new EvalFailure('strconv.ParseUint: parsing "": invalid syntax');
  const value = text.length > 20 ? undefined : BigInt(text);
  if (value === undefined || !isUint64(value)) throw new EvalFailure(`strconv.ParseUint: parsing ${goQuote(text)}: value out of range`);
  return value;
}

function prereleasePart(text: string): bigint | string {
  if (text === '') throw new EvalFailure('Prerelease is empty');
  if (/^[0-9]+$/.test(text)) {
    if (/^0[0-9]/.test(text)) throw new EvalFailure(`Numeric PreRelease version must not contain leading zeroes ${goQuote(text)}`);
    return parseUnsigned(text);
  }
  if (!/^[0-9A-Za-z-]+$/.test(text)) throw new EvalFailure(`Invalid character(s) found in prerelease ${goQuote(text)}`);
  return text;
}

function buildPart(text: string): string {
  if (text === '') throw new EvalFailure('Build meta data is empty');
  if (!/^[0-9A-Za-z-]+$/.test(text)) throw new EvalFailure(`Invalid character(s) found in build meta data ${goQuote(text)}`);
  return text;
}

/** `v1.02` is `1.2.0`: no prefix, no leading zeros, three numbers. */
function normalize(text: string): string {
  const parts = splitVersion(text.replace(/^v/, '')).map(withoutLeadingZeros);
  if (parts.length < 3 && /[+-]/.test(parts.at(-1) ?? '')) throw new EvalFailure('short version cannot contain PreRelease/Build meta data');
  while (parts.length < 3) parts.push('0');
  return parts.join('.');
}

function withoutLeadingZeros(part: string): string {
  if (part.length <= 1) return part;
  const trimmed = part.replace(/^0+/, '');
  return /^[0-9]/.test(trimmed) ? trimmed : `0${trimmed}`;
}

function isSemver(text: string): boolean {
  try {
    parseVersion(text);
    return true;
  } catch (error) {
    if (error instanceof EvalFailure) return false;
    throw error;
  }
}

function isNormalizedSemver(text: string, normalized: boolean): boolean {
  try {
    return isSemver(normalized ? normalize(text) : text);
  } catch (error) {
    if (error instanceof EvalFailure) return false;
    throw error;
  }
}

function number(index: 0 | 1 | 2): (value: SemverValue) => CelInt {
  return (value) => toInt(BigInt.asIntN(64, value.version.numbers[index]));
}

const PAIR = [SEMVER_TYPE, SEMVER_TYPE];

export const SEMVER_LIBRARY: CelLibrary = {
  functions: [
    declare(
      'semver',
      overload('string_to_semver', { args: [STRING], result: SEMVER_TYPE }, SemverValue.parse),
      overload('string_bool_to_semver', { args: [STRING, BOOL], result: SEMVER_TYPE }, (text: string, normalized: boolean) =>
        SemverValue.parse(normalized ? normalize(text) : text),
      ),
    ),
    declare(
      'isSemver',
      overload('is_semver_string', { args: [STRING], result: BOOL }, isSemver),
      overload('is_semver_string_bool', { args: [STRING, BOOL], result: BOOL }, isNormalizedSemver),
    ),
    declare(
      'isGreaterThan',
      method('semver_is_greater_than', { args: PAIR, result: BOOL }, (a: SemverValue, b: SemverValue) => a.compare(b) > 0),
    ),
    declare(
      'isLessThan',
      method('semver_is_less_than', { args: PAIR, result: BOOL }, (a: SemverValue, b: SemverValue) => a.compare(b) < 0),
    ),
    declare(
      'compareTo',
      method('semver_compare_to', { args: PAIR, result: INT }, (a: SemverValue, b: SemverValue) => a.compare(b)),
    ),
    declare('major', method('semver_major', { args: [SEMVER_TYPE], result: INT }, number(0))),
    declare('minor', method('semver_minor', { args: [SEMVER_TYPE], result: INT }, number(1))),
    declare('patch', method('semver_patch', { args: [SEMVER_TYPE], result: INT }, number(2))),
  ],
};
