import { once } from 'node:events';
import { type CsiDriverOptions, TestCsiDriver } from '../../csi-driver/csi-driver.ts';
import type { Fault } from '../../csi-driver/faults.ts';

/** A CSI driver in its own process, for one or more nodes that share its volumes. The arguments are options and faults, as JSON. */
const [options = '[]', faults = '{}'] = process.argv.slice(2);
const drivers: TestCsiDriver[] = [];
for (const own of JSON.parse(options) as CsiDriverOptions[]) drivers.push(await TestCsiDriver.start(own, drivers[0]?.state));
for (const driver of drivers)
  for (const [call, fault] of Object.entries(JSON.parse(faults) as Record<string, Fault>)) driver.faults.set(call, fault);
process.stdout.write('ready\n');
await once(process, 'SIGTERM');
for (const driver of drivers) await driver[Symbol.asyncDispose]();
