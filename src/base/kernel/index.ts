export { DeadPeerError, DeadPeerMonitor, type DeadPeerOptions } from './dead-peer-monitor.ts';
export { type BatchOptions, KernelNetwork, type NetworkCommand } from './kernel-network.ts';
export { type NftContent, type NftElement, type NftObject, NftTransactions } from './nft-transactions.ts';
