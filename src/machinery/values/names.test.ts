import { describe, expect, it } from 'vitest';
import { Path } from '../errors/field-path.ts';
import * as names from './names.ts';

const label =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const qualified =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const subdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

describe('names', () => {
  it.each([
    [names.checkDns1123Label, 'a-1', []],
    [names.checkDns1123Label, 'A', [label]],
    [names.checkDns1123Label, 'a.b', ['must not contain dots']],
    [names.checkDns1123Label, 'a'.repeat(64), ['must be no more than 63 characters']],
    [names.checkDns1123Label, `-${'a'.repeat(63)}`, ['must be no more than 63 characters', label]],
    [names.checkDns1123Subdomain, 'a.b-c.d', []],
    [names.checkDns1123Subdomain, 'a..b', [subdomain]],
    [names.checkDns1123SubdomainWithUnderscore, '_a._b', []],
    [names.checkDns1123SubdomainCaseless, 'Driver.Example.com', []],
    [names.checkDns1035Label, 'a1', []],
    [names.checkWildcardDns1123Subdomain, '*.example.com', []],
    [names.checkLabelKey, 'example.com/App_1', []],
    [names.checkLabelKey, '', ['name part must be non-empty', qualified]],
    [names.checkLabelKey, '/a', ['prefix part must be non-empty']],
    [names.checkLabelKey, 'A/a', [`prefix part ${subdomain}`]],
    [names.checkLabelKey, 'a'.repeat(64), ['name part must be no more than 63 bytes']],
    [names.checkLabelValue, '', []],
    [names.checkLabelValue, 'a'.repeat(64), ['must be no more than 63 bytes']],
    [names.checkCIdentifier, '_a1', []],
    [names.checkPercent, '10%', []],
    [names.checkHttpHeaderName, 'X-A', []],
    [names.checkEnvVarName, 'A.b-c_d', []],
    [names.checkEnvVarName, '..', ["must not be '..'"]],
    [names.checkRelaxedEnvVarName, '1 a!', []],
    [names.checkRelaxedEnvVarName, '', ['environment variable name must be non-empty']],
    [names.checkConfigMapKey, '.x', []],
    [names.checkConfigMapKey, '..x', ["must not start with '..'"]],
    [names.checkConfigMapKey, '.', ["must not be '.'"]],
    [names.checkPathSegmentName, 'a:b', []],
    [names.checkPathSegmentName, '..', ["may not be '..'"]],
    [names.checkPathSegmentName, 'a/b%', ["may not contain '/'", "may not contain '%'"]],
    [names.checkPortName, 'http-8', []],
    [
      names.checkPortName,
      '-8--',
      ['must contain at least one letter (a-z)', 'must not contain consecutive hyphens', 'must not begin or end with a hyphen'],
    ],
    [names.checkDecimalInteger, '-12', []],
    [names.checkDecimalInteger, '007', ['must be a valid decimal integer in canonical form']],
    [names.checkUuid, '123e4567-e89b-12d3-a456-426614174000', []],
    [names.checkUuid, 'x', ['must be a lowercase UUID in 8-4-4-4-12 format']],
  ])('%# %o on %j', (check, value, problems) => {
    expect((check as (value: string) => readonly string[])(value)).toEqual(problems);
  });

  it('explains bad environment variable names', () => {
    expect(names.checkEnvVarName('1a')).toEqual([
      "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit (e.g. 'my.env-name',  or 'MY_ENV.NAME',  or 'MyEnvName1', regex used for validation is '[-._a-zA-Z][-._a-zA-Z0-9]*')",
    ]);
  });

  it('checks numbers against their range', () => {
    expect(names.checkPortNumber(0)).toEqual(['must be between 1 and 65535, inclusive']);
    expect(names.checkUnixId(2 ** 31)).toEqual(['must be between 0 and 2147483647, inclusive']);
    expect(names.checkPortNumber(80)).toEqual([]);
  });

  it('lets a prefix end in a dash', () => {
    expect(names.nameIsDnsLabel('web-', true)).toEqual([]);
    expect(names.nameIsDnsLabel('web-', false)).toHaveLength(1);
    expect(names.nameIsDnsSubdomain('a.b-', true)).toEqual([]);
    expect(names.nameIsDns1035Label('-', true)).toHaveLength(1);
    expect(names.nameIsPathSegment('.', true)).toEqual([]);
  });

  it('counts bytes, not characters', () => {
    expect(names.checkLabelValue('é'.repeat(32))[0]).toBe('must be no more than 63 bytes');
  });

  it('takes linear time on long input', () => {
    const long = `${'a.'.repeat(100_000)}-`;
    expect(names.checkDns1123Subdomain(long)).toHaveLength(2);
    expect(names.checkLabelValue(`${'a'.repeat(200_000)}-`)).toHaveLength(2);
  });

  const path = Path.of('f');
  it.each([
    [names.validateFullyQualifiedName, 'a.b.c', []],
    [names.validateFullyQualifiedName, '', ['f: Required value']],
    [
      names.validateFullyQualifiedName,
      'a.b',
      ['f: Invalid value: "a.b": should be a domain with at least three segments separated by dots'],
    ],
    [names.validateFullyQualifiedDomainName, 'a.b.', []],
    [
      names.validateFullyQualifiedDomainName,
      'a',
      ['f: Invalid value: "a": should be a domain with at least two segments separated by dots'],
    ],
    [names.validateDomainPrefixedPath, 'acme.io/foo/bar', []],
    [names.validateDomainPrefixedPath, 'acme.io', ['f: Invalid value: "acme.io": must be a domain-prefixed path (such as "acme.io/foo")']],
    [
      names.validateDomainPrefixedPath,
      'acme.io/ ',
      [`f: Invalid value: " ": Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')`],
    ],
    [names.validateDomainPrefixedKey, 'acme.io/foo', []],
    [names.validateDomainPrefixedKey, 'foo', ['f: Invalid value: "foo": must be a domain-prefixed key (such as "acme.io/foo")']],
  ])('%# %o on %j', (validate, value, errors) => {
    expect(validate(path, value).map(String)).toEqual(errors);
  });
});
