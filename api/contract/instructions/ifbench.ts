// IFBench's 58 verifiable instructions (Pyatkin et al. 2025, arXiv 2507.02833): id -> the arguments that its instruction takes.
export const ifbenchArguments = {} as const;
