import { existsSync } from 'node:fs';
import { describeEtcdContract } from '../contract/etcd-contract.ts';

/** The directory of another version's programs. */
const OTHER_ETCD = process.env.OTHER_ETCD ?? '';

await describeEtcdContract(1);
if (existsSync(OTHER_ETCD)) await describeEtcdContract(1, { programs: OTHER_ETCD, name: 'another version of etcd' });
