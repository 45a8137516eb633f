package io.github.distributedpermit.benchmark.load;

/** Runs one contender for one slice. */
public interface Slice {

    /**
     * Runs it and reads the board.
     *
     * @param number of the slice, to derive unused keys from; negative in a warm-up
     */
    SliceStats run(int number) throws Exception;
}
