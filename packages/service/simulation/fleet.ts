import { Replica } from "./replica.ts";
import type { Life } from "./scheduler.ts";
import type { ServiceOptions } from "./service.ts";
import type { World } from "./world.ts";

/** A place for a process; `replica` is present from when it serves until it is asked to stop. */
type Slot = { life: Life; settings: World["settings"]["now"]; replica?: Replica; stopping?: true };

const MAX_STANDSTILL_MS = 40_000;
/** Until a process that could not start is started again. */
const RESTART_MS = 2_000;

/** The processes of the service, and who starts them again when they die. */
export class Fleet {
  readonly #world: World;
  readonly #options: ServiceOptions;
  readonly #slots: Slot[] = [];
  #started = 0;

  constructor(world: World, options: ServiceOptions, size: number) {
    this.#world = world;
    this.#options = options;
    for (let place = 0; place < size; place++) this.#start(place);
  }

  /** Whether every one of them serves. */
  get whole(): boolean {
    return this.#slots.every(serves);
  }

  /** One that serves, as a load balancer picks it. */
  pick(): Replica | undefined {
    const up = this.#slots.filter(serves);
    return up.length === 0 ? undefined : this.#world.scheduler.random.pick(up).replica;
  }

  /** Does to one of them what a machine, or an operator, may do at any time. */
  disturb(): void {
    const { random } = this.#world.scheduler;
    const place = random.below(this.#slots.length);
    const slot = this.#slots[place];
    if (!slot?.life.alive) return;
    const deed = random.pick(["crash", "crash", "stand still", "stop"] as const);
    if (deed === "crash") this.#crash(place, slot);
    if (deed === "stand still") this.#standStill(slot);
    if (deed === "stop") this.#stop(place, slot);
  }

  /** Lets all of them run, with the settings of now. */
  heal(): void {
    for (const [place, { life, settings, replica }] of this.#slots.entries()) {
      this.#world.scheduler.wake(life);
      if (life.alive && settings === this.#world.settings.now) continue;
      life.alive = false;
      replica?.crash();
      this.#start(place);
    }
  }

  /** Starts one after the other anew, as an operator does who has changed the settings. */
  replace(): void {
    const { scheduler } = this.#world;
    for (const [place, slot] of this.#slots.entries())
      scheduler.later(undefined, scheduler.random.below(10_000), "is replaced", slot.life.name, () => {
        if (slot.life.alive && this.#slots[place] === slot) this.#stop(place, slot);
      });
  }

  /** Kills it, whatever it is doing; another is started in its place after a while. */
  #crash(place: number, slot: Slot): void {
    const { scheduler, faults } = this.#world;
    const { random } = scheduler;
    faults.count("process crash");
    scheduler.note(slot.life.name, "CRASHES", "");
    slot.life.alive = false;
    slot.replica?.crash();
    this.#startAfter(place, slot, random.below(random.chance(0.3) ? 60_000 : 5_000));
  }

  /** As for a long collection of garbage, or a virtual machine that is moved. */
  #standStill({ life }: Slot): void {
    const { scheduler, faults } = this.#world;
    if (life.paused) return;
    faults.count("process standstill");
    scheduler.note(life.name, "stands still", "");
    life.paused = true;
    scheduler.later(undefined, scheduler.random.below(MAX_STANDSTILL_MS), "goes on", life.name, () =>
      scheduler.wake(life),
    );
  }

  #stop(place: number, slot: Slot): void {
    const { scheduler, faults } = this.#world;
    if (!slot.replica || slot.stopping) return;
    faults.count("process stop");
    scheduler.note(slot.life.name, "is told to stop", "");
    slot.stopping = true;
    void slot.replica.stop().then(() => this.#start(place));
  }

  #startAfter(place: number, slot: Slot, ms: number): void {
    this.#world.scheduler.later(undefined, ms, "is started again", slot.life.name, () => {
      if (this.#slots[place] === slot) this.#start(place);
    });
  }

  #start(place: number): void {
    const life = { name: `${"abc"[place]}${this.#started++}`, alive: true, paused: false };
    const slot: Slot = { life, settings: this.#world.settings.now };
    this.#slots[place] = slot;
    Replica.start(life, this.#world, this.#options).then(
      (replica) => {
        slot.replica = replica;
      },
      () => {
        life.alive = false;
        this.#startAfter(place, slot, RESTART_MS);
      },
    );
  }
}

function serves({ life, replica, stopping }: Slot): boolean {
  return replica !== undefined && life.alive && !stopping;
}
