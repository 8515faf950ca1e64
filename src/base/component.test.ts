import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { type Component, runComponent, stopAll, waitForAbort } from '#base';

const untilStopped = (parent?: AbortSignal): Component =>
  runComponent(parent, async ({ signal, ready }) => {
    ready();
    await waitForAbort(signal);
  });

describe('a component', () => {
  test('is ready, then done when it is disposed of, and lets go of its parent signal', async () => {
    const parent = new AbortController();
    const component = untilStopped(parent.signal);
    await component.ready;
    await component[Symbol.asyncDispose]();
    await component.done;
    expect(getEventListeners(parent.signal, 'abort')).toHaveLength(0);
  });

  test('stops at the end of the block that uses it', async () => {
    let stopped = false;
    {
      await using component = runComponent(undefined, async ({ signal, ready }) => {
        ready();
        await waitForAbort(signal);
        stopped = true;
      });
      await component.ready;
    }
    expect(stopped).toBe(true);
  });

  test('stops with its parent signal', async () => {
    const parent = new AbortController();
    const component = untilStopped(parent.signal);
    parent.abort();
    await component.done;
  });

  test('counts rejecting with the reason of the signal as a clean stop', async () => {
    const component = runComponent(undefined, async ({ signal }) => {
      await waitForAbort(signal);
      signal.throwIfAborted();
    });
    await component[Symbol.asyncDispose]();
    await expect(component.ready).rejects.toThrow('was stopped');
  });

  test('tells of a failure before it was ready through ready alone', async () => {
    const component = runComponent(undefined, () => Promise.reject(new Error('port in use')));
    await expect(component.ready).rejects.toThrow('port in use');
    await component.done;
  });

  test('tells of a failure after it was ready through done', async () => {
    const component = runComponent(undefined, async ({ ready }) => {
      ready();
      await Promise.resolve();
      throw new Error('lost the disk');
    });
    await component.ready;
    await expect(component.done).rejects.toThrow('lost the disk');
  });

  test('is not ready when it ends without having been', async () => {
    const component = runComponent(undefined, async () => {});
    await expect(component.ready).rejects.toThrow('ended before it was ready');
  });
});

describe('stopping several components', () => {
  const stoppable = (name: string, trace: string[], fail = false): AsyncDisposable => ({
    async [Symbol.asyncDispose]() {
      trace.push(name);
      if (fail) throw new Error(`${name} would not stop`);
    },
  });

  test('goes from last to first', async () => {
    const trace: string[] = [];
    await stopAll([stoppable('store', trace), stoppable('apiserver', trace), stoppable('kubelet', trace)]);
    expect(trace).toEqual(['kubelet', 'apiserver', 'store']);
  });

  test('waits for those that stop asynchronously, and disposes of the others', async () => {
    const trace: string[] = [];
    await stopAll([{ [Symbol.dispose]: () => void trace.push('cache') }, stoppable('server', trace)]);
    expect(trace).toEqual(['server', 'cache']);
  });

  test('stops the rest when some fail, then throws', async () => {
    const trace: string[] = [];
    const stopping = stopAll([stoppable('a', trace), stoppable('b', trace, true)]);
    await expect(stopping).rejects.toThrow('b would not stop');
    const both = stopAll([stoppable('c', trace, true), stoppable('d', trace, true)]);
    await expect(both).rejects.toThrow('2 components failed to stop');
    expect(trace).toEqual(['b', 'a', 'd', 'c']);
  });
});
