import { describe, expect, test } from 'vitest';
import { readSourceTree, sourceFile } from './source-tree.ts';
import { droppedPromiseFaults, emitterFaults } from './unhandled-errors.ts';

test("what emits 'error' has a listener for as long as it lives", () => {
  expect(readSourceTree().flatMap(emitterFaults)).toEqual([]);
});

test('no promise is dropped that may reject', () => {
  expect(readSourceTree().flatMap(droppedPromiseFaults)).toEqual([]);
});

const NET = "import { connect as dial, createServer } from 'node:net';\n";

describe('the rule of emitters', () => {
  test.each([
    [`${NET}const socket = dial(1);\nsocket.on('error', f);`, 0],
    [`${NET}const socket = dial(1);\nsocket.setEncoding('utf8').on('data', f).on('error', f);`, 0],
    [`${NET}const socket = dial(1);\nsocket.once('error', f);`, 1],
    [`${NET}const socket = dial(1);\nother.on('error', f);`, 1],
    [`${NET}return dial(1);`, 1],
    [`${NET}// errors: the session listens\nreturn dial(1);`, 0],
    [`${NET}dial(1)\n  .on('data', () => {\n    f();\n  })\n  .on('error', f);`, 0],
    [`${NET}this.#socket = a ? dial(1) : dial(2);\nthis.#socket.on('error', f);`, 0],
    [`${NET}const server = createServer(f);\nserver.on('error', f);\nserver.listen(1);`, 1],
    [`${NET}const server = createServer(f);\nawait listenOn(server, { port: 1 }, logger);`, 0],
    ["import net from 'node:net';\nconst socket = net.connect(1);", 1],
    ["import { createServer, type Socket } from 'node:net';\nconst socket = client.connect(1);", 0],
    ["import { createReadStream } from 'node:fs';\nawait pipeline(createReadStream(a), b);", 0],
    ["import { createReadStream } from 'node:fs';\nfor await (const chunk of createReadStream(a)) f(chunk);", 0],
    ["import { spawn } from 'node:child_process';\nconst child = spawn('a');\nchild.once('exit', f);", 1],
  ])('finds in %j %d faults', (text, count) => {
    expect(emitterFaults(sourceFile('src/base/a.ts', text))).toHaveLength(count);
  });
});

describe('the rule of promises', () => {
  const LOCAL = 'async function work(): Promise<void> {}\n';
  test.each([
    [`${LOCAL}void work();`, 1],
    [`/** Does it. Never rejects. */\n${LOCAL}void work();`, 0],
    [`${LOCAL}void work().catch(report);`, 0],
    [`${LOCAL}void work().then(f, report);`, 0],
    [`${LOCAL}void work().then(() => f(a, b));`, 1],
    [`${LOCAL}void work().finally(f);`, 1],
    ['void connection.closed.then(() => f(a, b));', 0],
    ['class A {\n  async #run() {}\n  a() {\n    void this.#run();\n  }\n}', 1],
    ['class A {\n  /** Never rejects. */\n  async #run() {}\n  a() {\n    setTimer(() => void this.#run());\n  }\n}', 0],
    ['list.forEach((item) => void items.delete(item));', 0],
  ])('finds in %j %d faults', (text, count) => {
    expect(droppedPromiseFaults(sourceFile('src/base/a.ts', text))).toHaveLength(count);
  });
});
