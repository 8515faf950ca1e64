import { describe, expect, test } from 'vitest';
import { componentFaults } from './components.ts';
import { readSourceTree, sourceFile } from './source-tree.ts';

test('every component that a layer exports is startX(config, deps, signal) and returns a Component', () => {
  expect(componentFaults(readSourceTree())).toEqual([]);
});

describe('the rule itself', () => {
  const faultsOf = (declaration: string) =>
    componentFaults([
      sourceFile('src/dns/index.ts', "export { type DnsConfig, startDns } from './start-dns.ts';"),
      sourceFile('src/dns/start-dns.ts', `export interface DnsServer extends Component {\n  port: number;\n}\n${declaration}`),
    ]);

  const cases: [string, string, RegExp[]][] = [
    ['accepts the shape', 'export function startDns(config: DnsConfig, deps: DnsDeps, signal?: AbortSignal): Component {', []],
    [
      'accepts it over several lines, with more than a Component',
      'export function startDns(\n  config: Pick<DnsConfig, "a" | "b">,\n  deps: { clock: Clock; log: (x: string, y: string) => void },\n  signal: AbortSignal,\n): DnsServer {',
      [],
    ],
    ['finds other parameters', 'export function startDns(options: Options): Component {', [/takes \(options\)/]],
    [
      'finds another order',
      'export function startDns(deps: Deps, config: Config, signal: AbortSignal): Component {',
      [/takes \(deps, config/],
    ],
    ['finds another result', 'export function startDns(config: C, deps: D, signal: AbortSignal): Server {', [/returns Server/]],
    [
      'finds an async start',
      'export async function startDns(config: C, deps: D, signal: AbortSignal): Promise<Component> {',
      [/is async/, /Promise/],
    ],
    ['finds what it cannot check', 'export const startDns = () => {};', [/not declared as a function/]],
  ];
  test.each(cases)('%s', (_name, declaration, faults) => {
    expect(faultsOf(declaration)).toEqual(faults.map((fault) => expect.stringMatching(fault)));
  });
});
