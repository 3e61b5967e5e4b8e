import { Replica, type Surroundings } from "./replica.ts";
import type { Life } from "./scheduler.ts";

type Slot = { life: Life; replica?: Replica; stopping?: true };

/** The replicas of the service, and who starts them again when they die. */
export class Fleet {
  readonly #surroundings: Surroundings;
  readonly #slots: Slot[] = [];
  #started = 0;

  constructor(surroundings: Surroundings, size: number) {
    this.#surroundings = surroundings;
    for (let i = 0; i < size; i++) this.#start(i);
  }

  /** Those that serve. */
  get up(): Replica[] {
    return this.#slots.flatMap(({ replica, stopping }) => (replica && !stopping ? replica : []));
  }

  /** Whether every one of them serves. */
  get whole(): boolean {
    return this.up.length === this.#slots.length;
  }

  /** One that serves, as a load balancer picks it. */
  pick(): Replica | undefined {
    const { up } = this;
    return up.length === 0 ? undefined : this.#surroundings.scheduler.random.pick(up);
  }

  /** Kills a process, whatever it is doing; another is started in its place after a while. */
  crash(): void {
    const { random } = this.#surroundings.scheduler;
    const place = random.below(this.#slots.length);
    const slot = this.#slots[place];
    if (!slot?.life.alive) return;
    this.#surroundings.faults.count("process crash");
    this.#surroundings.scheduler.note(slot.life.name, "CRASHES", "");
    slot.life.alive = false;
    slot.replica?.crash();
    this.#startAfter(place, random.below(random.chance(0.3) ? 60_000 : 5_000));
  }

  /** Lets a process stand still: a long collection of garbage, a stopped virtual machine. */
  pause(): void {
    const { scheduler } = this.#surroundings;
    const slot = scheduler.random.pick(this.#slots);
    if (!slot.life.alive || slot.life.paused) return;
    this.#surroundings.faults.count("process standstill");
    slot.life.paused = true;
    scheduler.note(slot.life.name, "stands still", "");
    scheduler.later(undefined, scheduler.random.below(40_000), "goes on", slot.life.name, () =>
      scheduler.wake(slot.life),
    );
  }

  /** Stops a process as an operator does. */
  stop(): void {
    const { random } = this.#surroundings.scheduler;
    const place = random.below(this.#slots.length);
    const slot = this.#slots[place];
    if (!slot?.replica || slot.stopping) return;
    this.#surroundings.faults.count("process stop");
    slot.stopping = true;
    this.#surroundings.scheduler.note(slot.life.name, "is told to stop", "");
    void slot.replica.stop().then(() => this.#start(place));
  }

  /** Lets all of them run. */
  heal(): void {
    for (const [place, { life }] of this.#slots.entries()) {
      this.#surroundings.scheduler.wake(life);
      if (!life.alive) this.#start(place);
    }
  }

  #startAfter(place: number, ms: number): void {
    const slot = { life: { name: `-${place}`, alive: false, paused: false } };
    this.#slots[place] = slot;
    this.#surroundings.scheduler.later(undefined, ms, "is started again", slot.life.name, () => {
      if (this.#slots[place] === slot) this.#start(place);
    });
  }

  #start(place: number): void {
    const life = { name: `${"abc"[place]}${this.#started++}`, alive: true, paused: false };
    const slot: Slot = { life };
    this.#slots[place] = slot;
    Replica.start(life, this.#surroundings).then(
      (replica) => {
        slot.replica = replica;
      },
      () => {
        life.alive = false;
        if (this.#slots[place] === slot) this.#startAfter(place, 2_000);
      },
    );
  }
}
