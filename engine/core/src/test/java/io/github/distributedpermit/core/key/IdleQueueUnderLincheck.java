package io.github.distributedpermit.core.key;

import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Param;

/** The same line in a store without other members: idle permits stay, and are taken without a claim. */
@Param(name = "call", gen = IntGen.class, conf = "0:1")
public class IdleQueueUnderLincheck extends QueueUnderLincheck {

    @Override
    boolean alone() {
        return true;
    }
}
