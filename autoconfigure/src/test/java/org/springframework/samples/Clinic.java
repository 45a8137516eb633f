package org.springframework.samples;

/** A class of an application whose package begins like those of Spring. */
public class Clinic {

    /** Does nothing. */
    public void visit() {}
}
