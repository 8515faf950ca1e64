import { describeEtcdContract } from '../contract/etcd-contract.ts';

await describeEtcdContract(3);
