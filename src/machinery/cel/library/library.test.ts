import { describe, expect, test } from 'vitest';
import { compile } from '../compile.ts';
import { KUBERNETES_ENVIRONMENT, MUTATION_ENVIRONMENT } from '../environments.ts';
import { toJson } from '../values/inspect.ts';
import {
  AUTHORIZER_TYPE,
  type AuthorizationCheck,
  type AuthorizationSubject,
  AuthorizerValue,
  RESOURCE_CHECK_TYPE,
  ResourceCheckValue,
} from './authorization.ts';
import { ObjectLiteralValue, resolveMutationType } from './mutation.ts';

function run(expression: string): unknown {
  const result = compile(expression, { environment: MUTATION_ENVIRONMENT, resolveType: resolveMutationType });
  if (!result.ok) throw new Error(result.message);
  const outcome = result.program.run({});
  return outcome.error === undefined ? toJson(outcome.value) : `error: ${outcome.error.message}`;
}

type Case = readonly [expression: string, result: unknown];

function table(name: string, cases: readonly Case[]): void {
  describe(name, () => {
    test.each(cases)('%s', (expression, result) => {
      expect(run(expression)).toEqual(result);
    });
  });
}

table('strings', [
  ['"hello".charAt(4) + "hello".charAt(5)', 'o'],
  ['"hello".charAt(6)', 'error: index out of range: 6'],
  ['"h👑llo".indexOf("l")', 2],
  ['"hello mellow".indexOf("ello", 2)', 7],
  ['"hello".indexOf("") + "hello".indexOf("", 2)', 2],
  ['"hello".indexOf("z", -1)', 'error: index out of range: -1'],
  ['"hello mellow".lastIndexOf("ello")', 7],
  ['"hello mellow".lastIndexOf("ello", 6)', 1],
  ['"hello".lastIndexOf("")', 5],
  ['"TacoCat Æ".lowerAscii() + "TacoCat æ".upperAscii()', 'tacocat ÆTACOCAT æ'],
  ['"hello hello".replace("he", "we")', 'wello wello'],
  ['"hello hello".replace("he", "we", 1)', 'wello hello'],
  ['"hello".replace("he", "we", 0)', 'hello'],
  ['"ab".replace("", "-")', '-a-b-'],
  ['"ab".replace("", "-", 2)', '-a-b'],
  ['"".replace("", "-")', '-'],
  ['"a,b,c".split(",")', ['a', 'b', 'c']],
  ['"a,b,c".split(",", 2)', ['a', 'b,c']],
  ['"a,b".split(",", 0)', []],
  ['"a👑".split("")', ['a', '👑']],
  ['"tacocat".substring(4) + "tacocat".substring(0, 4)', 'cattaco'],
  ['"tacocat".substring(40)', 'error: index out of range: 40'],
  ['"tacocat".substring(3, 2)', 'error: invalid substring range. start: 3, end: 2'],
  ['" \\u2003\\ttrim\\n ".trim()', 'trim'],
  ['["x", "y"].join() + ["x", "y"].join("-")', 'xyx-y'],
  ['strings.quote("a\\n\\"\\\\")', '"a\\n\\"\\\\"'],
  ['"%s|%d|%x|%X|%o|%b".format(["s", 255, 255, 255, 8, 5])', 's|255|ff|FF|10|101'],
  ['"%.2f %f %e".format([1234.567, 1.0, 3.14])', '1,234.57 1.000000 3.140000×10⁰⁰'],
  ['"%s %s".format([[1, 2], {"b": 1.5, "a": 2.0}])', '[1, 2] {"a":2.000000, "b":1.500000}'],
  ['"%s %s %s".format([timestamp("2020-01-01T00:00:00Z"), duration("1m"), null])', '2020-01-01T00:00:00Z 60s null'],
  ['"%s".format([["a", timestamp(0)]])', '["a", timestamp("1970-01-01T00:00:00Z")]'],
  ['"100%%".format([])', '100%'],
  ['("%" + "d").format(["a"])', 'error: error during formatting: decimal clause can only be used on integers, was given string'],
  ['("%" + "d %d").format([1])', 'error: index 1 out of range'],
]);

table('lists and sets', [
  ['[1, 2, 2].isSorted() && ![2, 1].isSorted() && ["a", "b"].isSorted()', true],
  ['[1, 2, 3].sum() + [].sum()', 6],
  ['[1.5, 2.5].sum()', 4],
  ['[duration("1m"), duration("1s")].sum()', '61s'],
  ['[3, 1, 2].max() - [3, 1, 2].min()', 2],
  ['["b", "a"].min()', 'a'],
  ['[1].filter(x, false).max()', 'error: max called on empty list'],
  ['[1, 2, 2].indexOf(2) + [1, 2, 2].lastIndexOf(2) + [1].indexOf(9)', 2],
  ['[1, 2, 3, 4].slice(1, 3)', [2, 3]],
  ['[1].slice(0, 2)', 'error: cannot slice(0, 2), list is length 1'],
  ['[1].slice(1, 0)', 'error: cannot slice(1, 0), start index must be less than or equal to end index'],
  ['[[1], [2, 3]].flatten()', [1, 2, 3]],
  ['[[[1]], [[2]]].flatten(2)', [1, 2]],
  ['[3, 1, 2].sort()', [1, 2, 3]],
  ['[dyn(1), dyn("a")].sort()', 'error: list elements must have the same type'],
  ['[{"k": 2}, {"k": 1}].sortBy(e, e.k)', [{ k: 1 }, { k: 2 }]],
  ['lists.range(3)', [0, 1, 2]],
  ['[1, 2, 3].reverse()', [3, 2, 1]],
  ['[1, 2, 1, 3].distinct()', [1, 2, 3]],
  ['sets.contains([1, 2], [2, 2]) && !sets.contains([1], [2])', true],
  ['sets.equivalent([1, 2, 2], [2, 1]) && !sets.equivalent([1], [1, 2])', true],
  ['sets.intersects([1, 2], [2, 3]) && !sets.intersects([], [1])', true],
]);

table('regular expressions', [
  ['"abc 123".find("[0-9]*$")', '123'],
  ['"abc".find("x")', ''],
  ['"123 abc 456".findAll("[0-9]+")', ['123', '456']],
  ['"123 abc 456".findAll("[0-9]+", 1)', ['123']],
  ['"abc".find("(" + "")', 'error: Illegal regex: error parsing regexp: missing closing ): `(`'],
  ['"abc".matches("(" + "")', 'error: error parsing regexp: missing closing ): `(`'],
  ['matches("abc", "^a") && "abc".matches("b")', true],
]);

table('quantities', [
  ['isQuantity("1.3Gi") && isQuantity("10e6") && !isQuantity("1Gib") && !isQuantity("")', true],
  ['quantity("x")', "error: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"],
  ['quantity("500000G").isInteger() && quantity("1k").asInteger() == 1000', true],
  ['quantity("1500m").isInteger() || quantity("1000m").isInteger()', false],
  ['quantity("9999999999999999999999999999999999999G").isInteger()', false],
  ['quantity("1.5").asInteger()', 'error: cannot convert value to integer'],
  ['quantity("50.703k").asApproximateFloat()', 50703],
  ['quantity("-1").sign() + quantity("0").sign()', -1],
  ['quantity("150Mi").isGreaterThan(quantity("100Mi")) && quantity("50M").isLessThan(quantity("100Mi"))', true],
  ['quantity("200M").compareTo(quantity("0.2G")) == 0 && quantity("200M") == quantity("0.2G")', true],
  ['quantity("50k").add("20" == "" ? quantity("1") : quantity("20"))', '50020'],
  ['quantity("50k").add(20).sub(quantity("20"))', '50k'],
]);

table('addresses and networks', [
  ['ip("2001:db8::1").family() + ip("10.0.0.1").family()', 10],
  ['ip("1.2.3")', 'error: IP Address "1.2.3" parse error during conversion from string: ParseAddr("1.2.3"): IPv4 address too short'],
  [
    'ip("01.2.3.4")',
    'error: IP Address "01.2.3.4" parse error during conversion from string: ParseAddr("01.2.3.4"): IPv4 field has octet with leading zero',
  ],
  [
    'ip("::1::")',
    'error: IP Address "::1::" parse error during conversion from string: ParseAddr("::1::"): multiple :: in address (at ":")',
  ],
  ['ip("fe80::1%eth0")', 'error: IP address "fe80::1%eth0" with zone value is not allowed'],
  ['ip("::ffff:1.2.3.4")', 'error: IPv4-mapped IPv6 address "::ffff:1.2.3.4" is not allowed'],
  ['isIP("1.2.3.4") && !isIP("1.2.3.400") && !isIP("")', true],
  ['ip.isCanonical("2001:db8::1") && !ip.isCanonical("2001:DB8:0::1")', true],
  ['string(ip("2001:0db8:0:0:1:0:0:1"))', '2001:db8::1:0:0:1'],
  ['ip("127.0.0.1").isLoopback() && ip("0.0.0.0").isUnspecified() && ip("169.254.1.1").isLinkLocalUnicast()', true],
  ['ip("224.0.0.1").isLinkLocalMulticast() && ip("8.8.8.8").isGlobalUnicast() && !ip("::1").isGlobalUnicast()', true],
  ['ip("127.0.0.1") == ip("127.0.0.1") && ip("127.0.0.1") != ip("::1")', true],
  ['cidr("10.0.0.0/8").containsIP("10.1.2.3") && !cidr("10.0.0.0/8").containsIP(ip("11.0.0.1"))', true],
  ['cidr("10.0.0.0/8").containsCIDR("10.1.0.0/16") && !cidr("10.1.0.0/16").containsCIDR(cidr("10.0.0.0/8"))', true],
  ['cidr("10.1.2.3/8").masked().ip()', '10.0.0.0'],
  ['cidr("2001:db8::/32").prefixLength()', 32],
  ['string(cidr("10.1.2.3/8"))', '10.1.2.3/8'],
  ['isCIDR("10.0.0.0/8") && !isCIDR("10.0.0.0/33") && !isCIDR("10.0.0.0")', true],
  [
    'cidr("10.0.0.0")',
    'error: network address parse error during conversion from string: network address parse error during conversion from string: netip.ParsePrefix("10.0.0.0"): no \'/\'',
  ],
]);

table('URLs', [
  ['url("https://user:pw@example.com:8080/a%20b/c?x=1&x=2&y=%41#frag").getHost()', 'example.com:8080'],
  ['url("https://example.com:8080/a%20b").getEscapedPath()', '/a%20b'],
  ['url("https://example.com/a b").getEscapedPath()', '/a%20b'],
  ['url("https://[::1]:80/").getHostname() + url("https://[::1]:80/").getPort()', '::180'],
  ['url("HTTPS://example.com").getScheme()', 'https'],
  ['url("/path?x=1&x=2&y=%41+b").getQuery()', { x: ['1', '2'], y: ['A b'] }],
  ['url("/absolute").getHost()', ''],
  ['isURL("https://example.com") && !isURL("https://a:b/") && !isURL("../relative") && !isURL("")', true],
  ['url("relative")', 'error: URL parse error during conversion from string: parse "relative": invalid URI for request'],
  ['url("https://a:b/")', 'error: URL parse error during conversion from string: parse "https://a:b/": invalid port ":b" after host'],
  ['url("https://x/%zz")', 'error: URL parse error during conversion from string: parse "https://x/%zz": invalid URL escape "%zz"'],
  ['url("https://a b/")', 'error: URL parse error during conversion from string: parse "https://a b/": invalid character " " in host name'],
  ['url(":x")', 'error: URL parse error during conversion from string: parse ":x": missing protocol scheme'],
  ['url("https://example.com") == url("https://example.com")', true],
]);

table('semantic versions', [
  ['semver("1.2.3-alpha.1+build").major() + semver("1.2.3").minor() + semver("1.2.3").patch()', 6],
  ['semver("1.2.3-alpha").isLessThan(semver("1.2.3")) && semver("1.10.0").isGreaterThan(semver("1.9.0"))', true],
  ['semver("1.0.0-alpha.2").compareTo(semver("1.0.0-alpha.10"))', -1],
  ['semver("1.0.0-1").compareTo(semver("1.0.0-a"))', -1],
  ['semver("1.0.0+a") == semver("1.0.0+b")', true],
  ['isSemver("1.0.0") && !isSemver("1.0") && !isSemver("v1.0.0") && !isSemver("01.0.0")', true],
  ['isSemver("v1.0", true) && semver("v01.2", true) == semver("1.2.0")', true],
  ['semver("1.2")', 'error: No Major.Minor.Patch elements found'],
  ['semver("a.2.3")', 'error: Invalid character(s) found in major number "a"'],
  ['semver("1.2.3-01")', 'error: Numeric PreRelease version must not contain leading zeroes "01"'],
  ['semver("1-a", true)', 'error: short version cannot contain PreRelease/Build meta data'],
]);

table('named formats', [
  ['format.dns1123Label().validate("my-label").hasValue()', false],
  ['format.dns1123Label().validate("A").value().size()', 1],
  ['format.named("uuid").value().validate("x").value()', ['does not match the UUID format']],
  ['format.named("nope").hasValue()', false],
  ['format.uri().validate("nope").value()', ['parse "nope": invalid URI for request']],
  ['format.byte().validate("aGVsbG8=").hasValue() || format.date().validate("2021-01-01").hasValue()', false],
  ['format.datetime().validate("2020-01-32T00:00:00Z").value()', ['invalid datetime']],
  ['format.qualifiedName().validate("example.com/name").hasValue() || format.labelValue().validate("x_1").hasValue()', false],
  ['format.dns1035LabelPrefix().validate("my-label-").hasValue()', false],
]);

table('mutations', [
  ['jsonpatch.escapeKey("k8s.io/my~label")', 'k8s.io~1my~0label'],
  ['Object{spec: Object.spec{replicas: 1, list: [1, "a" == "" ? 2 : 3]}}', { spec: { replicas: 1, list: [1, 3] } }],
  ['Object{?a: optional.none(), ?b: optional.of(1)}', { b: 1 }],
  ['Object{a: 1} == Object{a: 1} && Object{a: 1} != Object{a: 2}', true],
  ['Object{metadata: Object.metadata{labels: {"a": "b"}}}.metadata.labels.a', 'b'],
  [
    '[JSONPatch{op: "add", path: "/a", value: {"x": 1}}, JSONPatch{op: "remove", path: "/b"}]',
    [
      { op: 'add', path: '/a', value: { x: 1 } },
      { op: 'remove', path: '/b' },
    ],
  ],
  ['JSONPatch{op: "add", path: "/a"}.path', '/a'],
]);

describe('types of constructed objects', () => {
  const construct = (expression: string) => {
    const result = compile(expression, { resolveType: resolveMutationType });
    return result.program?.evaluate({});
  };
  test('follow the fields they stand in', () => {
    const value = construct('Object{spec: Object.spec{list: [Object.spec.list{a: 1}]}}');
    expect(value).toBeInstanceOf(ObjectLiteralValue);
    expect(() => (value as ObjectLiteralValue).checkTypeNames()).not.toThrow();
  });
  test('are reported where they do not', () => {
    const value = construct('Object{spec: Object.status{}}') as ObjectLiteralValue;
    expect(() => value.checkTypeNames()).toThrow(
      expect.objectContaining({
        message: 'unexpected type name "Object.status", expected "Object.spec", which matches field name path from root Object type',
      }),
    );
  });
  test('have only the fields that there are', () => {
    expect(compile('JSONPatch{nope: 1}', { resolveType: resolveMutationType })).toMatchObject({
      message: expect.stringContaining("undefined field 'nope'"),
    });
    expect(compile('JSONPatch{op: 1}', { resolveType: resolveMutationType })).toMatchObject({
      message: expect.stringContaining("expected type of field 'op' is 'string' but provided type is 'int'"),
    });
  });
});

describe('the authorizer', () => {
  const questions: { question: AuthorizationCheck; subject: AuthorizationSubject }[] = [];
  const authorizer = new AuthorizerValue((question, subject) => {
    questions.push({ question, subject });
    const allowed = question.verb === 'get';
    return allowed ? { allowed, reason: 'may read' } : { allowed, reason: 'may not', error: 'no rule' };
  });
  const requestResource = new ResourceCheckValue(authorizer, { group: 'apps', resource: 'deployments', namespace: 'ns', name: 'n' });
  const ask = (expression: string) => {
    const variables = { authorizer: AUTHORIZER_TYPE, 'authorizer.requestResource': RESOURCE_CHECK_TYPE };
    const result = compile(expression, { variables });
    if (!result.ok) throw new Error(result.message);
    questions.length = 0;
    const outcome = result.program.run({ authorizer, 'authorizer.requestResource': requestResource });
    return outcome.error?.message ?? outcome.value;
  };
  test('is asked about paths', () => {
    expect(ask('authorizer.path("/healthz").check("get").allowed()')).toBe(true);
    expect(questions).toEqual([{ question: { kind: 'path', path: '/healthz', verb: 'get' }, subject: {} }]);
  });
  test('is asked about resources, with all that the check was given', () => {
    const check = 'authorizer.serviceAccount("ns", "sa").group("").resource("pods").subresource("log").namespace("x").name("y")';
    expect(ask(`${check}.fieldSelector("a=b").labelSelector("c").check("list").errored()`)).toBe(true);
    expect(questions).toEqual([
      {
        question: {
          kind: 'resource',
          verb: 'list',
          group: '',
          resource: 'pods',
          subresource: 'log',
          namespace: 'x',
          name: 'y',
          fieldSelector: 'a=b',
          labelSelector: 'c',
        },
        subject: { serviceAccount: { namespace: 'ns', name: 'sa' } },
      },
    ]);
  });
  test('answers about the resource of the request', () => {
    expect(ask('authorizer.requestResource.check("get").reason()')).toBe('may read');
    expect(ask('authorizer.requestResource.check("put").error()')).toBe('no rule');
    expect(questions[0]?.question).toMatchObject({ group: 'apps', resource: 'deployments', namespace: 'ns', name: 'n' });
  });
  test.each([
    ['authorizer.path(" ").check("get").allowed()', 'path must not be empty'],
    ['authorizer.group("").resource("").check("get").allowed()', 'resource must not be empty'],
    ['authorizer.serviceAccount("a b", "x").path("/").check("get").allowed()', 'Invalid service account namespace'],
    ['authorizer.serviceAccount("a", "X").path("/").check("get").allowed()', 'Invalid service account name'],
  ])('%s fails before anything is asked', (expression, message) => {
    expect(ask(expression)).toBe(message);
    expect(questions).toEqual([]);
  });
  test('costs so much that one expression may ask twice', () => {
    const check = 'authorizer.path("/").check("get").allowed()';
    expect(ask(`${check} && ${check}`)).toBe(true);
    expect(ask(`${check} && ${check} && ${check}`)).toBe('operation cancelled: actual cost limit exceeded');
  });
});

test('the API server offers neither cel.bind nor string.reverse', () => {
  expect(compile('cel.bind(x, 1, x)', { environment: KUBERNETES_ENVIRONMENT }).ok).toBe(false);
  expect(compile('"a".reverse()').ok).toBe(false);
});
