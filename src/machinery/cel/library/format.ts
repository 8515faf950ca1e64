import {
  checkLabelValue,
  checkQualifiedName,
  nameIsDns1035Label,
  nameIsDnsLabel,
  nameIsDnsSubdomain,
  type Problems,
} from '../../values/names.ts';
import { type CelLibrary, declare, method, overload } from '../check/declarations.ts';
import { closedType, listType, optionalType, STRING } from '../types.ts';
import { CelList } from '../values/containers.ts';
import { parseDate } from '../values/time.ts';
import { CelObject, CelOptional, type CelValue, noSuchOverload } from '../values/value.ts';
import { requestUriProblem } from './go-url.ts';

export const FORMAT_TYPE = closedType('kubernetes.NamedFormat');

/** A named rule for strings, such as `format.dns1123Label()`. */
export class NamedFormat extends CelObject {
  readonly type = FORMAT_TYPE;
  readonly name: string;
  readonly check: (text: string) => Problems;
  /** The size of its regular expression, or of an equivalent one, for its cost. */
  readonly maxRegexSize: number;

  constructor(name: string, maxRegexSize: number, check: (text: string) => Problems) {
    super();
    this.name = name;
    this.maxRegexSize = maxRegexSize;
    this.check = check;
  }

  equals(other: CelValue): boolean {
    if (!(other instanceof NamedFormat)) throw noSuchOverload();
    return this.name === other.name;
  }
}

const UUID_PATTERN = '(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$';
const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/;
const TIME = /^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$/;
const TIME_PATTERN_SIZE = 74;
const BASE64_PATTERN_SIZE = 84;
const URL_PATTERN_SIZE = 1103;

function problem(isValid: boolean, text: string): Problems {
  return isValid ? [] : [text];
}

function isDateTime(text: string): boolean {
  const parts = text.toLowerCase().split('t');
  if (text.length < 4 || parts[0] === undefined || parts[1] === undefined || parseDate(parts[0]) === undefined) return false;
  const time = TIME.exec(parts[1]);
  return time !== null && (time[1] ?? '') <= '23' && (time[2] ?? '') <= '59' && (time[3] ?? '') <= '59';
}

function checkUri(text: string): Problems {
  const problem = requestUriProblem(text);
  return problem === undefined ? [] : [problem];
}

const FORMATS: ReadonlyMap<string, NamedFormat> = new Map([
  ['dns1123Label', new NamedFormat('DNS1123Label', 30, (text) => nameIsDnsLabel(text, false))],
  ['dns1123Subdomain', new NamedFormat('DNS1123Subdomain', 60, (text) => nameIsDnsSubdomain(text, false))],
  ['dns1035Label', new NamedFormat('DNS1035Label', 30, (text) => nameIsDns1035Label(text, false))],
  ['qualifiedName', new NamedFormat('QualifiedName', 60, checkQualifiedName)],
  ['dns1123LabelPrefix', new NamedFormat('DNS1123LabelPrefix', 30, (text) => nameIsDnsLabel(text, true))],
  ['dns1123SubdomainPrefix', new NamedFormat('DNS1123SubdomainPrefix', 60, (text) => nameIsDnsSubdomain(text, true))],
  ['dns1035LabelPrefix', new NamedFormat('DNS1035LabelPrefix', 30, (text) => nameIsDns1035Label(text, true))],
  ['labelValue', new NamedFormat('LabelValue', 40, checkLabelValue)],
  ['uri', new NamedFormat('URI', URL_PATTERN_SIZE, checkUri)],
  ['uuid', new NamedFormat('uuid', UUID_PATTERN.length, (text) => problem(UUID.test(text), 'does not match the UUID format'))],
  ['byte', new NamedFormat('byte', BASE64_PATTERN_SIZE, (text) => problem(BASE64.test(text), 'invalid base64'))],
  ['date', new NamedFormat('date', TIME_PATTERN_SIZE, (text) => problem(parseDate(text) !== undefined, 'invalid date'))],
  ['datetime', new NamedFormat('datetime', TIME_PATTERN_SIZE, (text) => problem(isDateTime(text), 'invalid datetime'))],
]);

function named(name: string): CelOptional {
  const format = FORMATS.get(name);
  return format === undefined ? CelOptional.none : CelOptional.of(format);
}

function validate(format: NamedFormat, text: string): CelOptional {
  const problems = format.check(text);
  return problems.length === 0 ? CelOptional.none : CelOptional.of(CelList.of(problems));
}

const VALIDATED = optionalType(listType(STRING));

export const FORMAT_LIBRARY: CelLibrary = {
  functions: [
    declare('validate', method('format-validate', { args: [FORMAT_TYPE, STRING], result: VALIDATED }, validate)),
    declare('format.named', overload('format-named', { args: [STRING], result: optionalType(FORMAT_TYPE) }, named)),
    ...[...FORMATS].map(([name, format]) =>
      declare(
        `format.${name}`,
        overload(`format.${name}`, { args: [], result: FORMAT_TYPE }, () => format),
      ),
    ),
  ],
};
