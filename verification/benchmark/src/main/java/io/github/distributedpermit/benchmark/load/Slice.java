package io.github.distributedpermit.benchmark.load;

/** Runs one contender for one slice. */
public interface Slice {

    /**
     * Runs it and reads the board.
     *
     * @param number of the slice, to make keys that nobody has used
     */
    SliceStats run(int number) throws Exception;
}
