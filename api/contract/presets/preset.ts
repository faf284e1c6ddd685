// What a preset is: the stages of a published cascade in their order, each with the values that its paper gives and where it gives
// them, and what of that cascade there is not here. What a preset cannot know (data, reward models, judges) the posted spec says.

/** Of a stage as posted, so far as the paper says; what it leaves out is the kind's default. */
interface StageValues {
  readonly kind: string;
  readonly [field: string]: unknown;
}

export interface PresetStage {
  readonly name: string;
  /** Where the values stand. */
  readonly source: string;
  readonly values: StageValues;
  /** Optional fields that the paper's stage has and only the poster can fill, with what is lost without them. */
  readonly wants?: readonly { readonly field: string; readonly why: string }[];
  /** Of a stage that distils. */
  readonly teachers?: readonly PresetTeacher[];
}

/** Who teaches a domain in the paper. */
interface PresetTeacher {
  readonly domain: string;
  /** Whose end it is, where that stage is posted and the domain has no other teacher; without one the poster alone can name it. */
  readonly stage?: string;
  /** What is lost where the domain is not among those posted, or has the teacher `best` in its place. */
  readonly why: string;
}

/** A stage of the paper, or a part of one, that does not run. */
export interface Omitted {
  readonly name: string;
  readonly why: string;
}

export interface Preset {
  readonly stages: readonly PresetStage[];
  /** What there is not here, whatever is posted. */
  readonly omitted: readonly Omitted[];
}
