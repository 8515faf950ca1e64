import { describe, expect, test } from 'vitest';
import { parseConfigFile } from './config-file.ts';

describe('a configuration file', () => {
  test('may set everything that the command line can', () => {
    const file = `
name: lab
dataDir: ./data
host: 127.0.0.1
port: 7443
nodes: 3
store: { type: etcd, etcdServers: ['http://127.0.0.1:2379'] }
kubeconfig: ./kubeconfig
merge: false
wait: 90s
apiServer: { authorization-mode: [Node, RBAC], anonymous-auth: false }
controllerManager: { node-monitor-grace-period: 20s }
scheduler: {}
kubelet: { max-pods: 250 }
`;
    expect(parseConfigFile(file)).toEqual({
      name: 'lab',
      dataDir: './data',
      host: '127.0.0.1',
      port: 7443,
      nodes: 3,
      store: { type: 'etcd', etcdServers: ['http://127.0.0.1:2379'] },
      kubeconfig: './kubeconfig',
      merge: false,
      waitMs: 90_000,
      apiServer: { 'authorization-mode': 'Node,RBAC', 'anonymous-auth': 'false' },
      controllerManager: { 'node-monitor-grace-period': '20s' },
      scheduler: {},
      kubelet: { 'max-pods': '250' },
    });
  });

  test('may be empty', () => {
    expect(parseConfigFile('')).toEqual({});
    expect(parseConfigFile('# nothing yet\n')).toEqual({});
  });

  test.each([
    ['- a', "the file must be a mapping, such as 'nodes: 3', but it is a list"],
    ['node: 3', 'node is not a setting; did you mean nodes?'],
    ['data-dir: x', 'data-dir is not a setting; did you mean dataDir?'],
    ['colour: red', 'colour is not a setting; known are name, dataDir, host'],
    ['nodes: three', 'nodes must be a whole number from 0 to 10000, but it is the string "three"'],
    ['nodes: -1', 'nodes must be a whole number from 0 to 10000, but it is the number -1'],
    ['port: 70000', 'port must be a whole number from 0 to 65535, but it is the number 70000'],
    ['merge: maybe', 'merge must be true or false, but it is the string "maybe"'],
    ['wait: soon', "wait must be a duration such as '30s' or '2m', but it is the string \"soon\""],
    ['store: etcd', 'store must be a mapping with \'type\', but it is the string "etcd"'],
    ['store: { type: sqlite }', 'store.type must be one of embedded, memory, etcd, but it is the string "sqlite"'],
    ['store: { type: etcd }', 'store.etcdServers must be a list of URLs'],
    ['store: { type: etcd, etcdServers: [1] }', 'store.etcdServers[0] must be a text, but it is the number 1'],
    ['store: { type: memory, etcdServers: [a] }', 'store.etcdServers requires store.type: etcd'],
    ['store: { type: memory, size: 3 }', 'store.size is not a setting; known are type, etcdServers'],
    ['kubelet: [max-pods]', "kubelet must be a mapping of the component's flags to their values, but it is a list"],
    ['kubelet: { max-pods: { a: 1 } }', 'kubelet.max-pods must be a text, a number'],
    ['nodes: 1\nnodes: 2', 'line 2: key "nodes" already set in map'],
    ['a: [', ''],
  ])('%j is refused with the place and a hint', (source, message) => {
    expect(() => parseConfigFile(source)).toThrow(
      expect.objectContaining({ name: 'ConfigFileError', message: expect.stringContaining(message) }),
    );
  });
});
