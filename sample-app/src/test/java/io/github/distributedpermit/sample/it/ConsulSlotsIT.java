package io.github.distributedpermit.sample.it;

class ConsulSlotsIT extends ConsulLayoutLaws {

    ConsulSlotsIT() {
        super("slots");
    }
}
